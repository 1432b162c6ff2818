"""Which outputs there are and which battles are done: one flag per sample, in the sequence in which they are drawn."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import Count, Max, Q, QuerySet
from numpy.typing import NDArray

from experiments.models import Battle, Output, Sample

Flags = NDArray[np.bool_]
Keys = NDArray[np.int64]
CHUNK = 5000
KEPT = 4  # sequences of samples, 24 bytes for each sample
FEW = 500  # samples that are asked for by their keys
OPEN = Q(winner="", voided__isnull=True)
OPEN_STILL = OPEN & Q(left__void_reason="", right__void_reason="")  # nobody who takes no part any more is waited for
SETTLED = ~Q(winner="") | Q(voided__isnull=False)  # whoever made a battle void wants no verdict of it


class Shuffled(NamedTuple):
    """Keys of samples: in their own order, the place of each of these in the drawn sequence, and that sequence."""

    in_order: Keys
    place: Keys
    samples: Keys


class Grid:
    """The samples of a dataset (or of some subsets) in a sequence drawn by seed, the same for everybody.

    samples: keys in that sequence. Every answer is one flag per sample, in that sequence: 1 byte each.
    """

    def __init__(self, dataset_id: UUID, subsets: Sequence[str], seed: int) -> None:
        known = Sample.objects.filter(dataset_id=dataset_id).aggregate(count=Count("pk"), newest=Max("pk"))
        self._all: int = known["count"]
        self._shuffled = _shuffled(dataset_id, tuple(subsets), seed, self._all, known["newest"])
        self.samples = self._shuffled.samples
        self._outputs: dict[int, Flags] = {}

    def __len__(self) -> int:
        return int(self.samples.size)

    def outputs(self, contestant: int) -> Flags:
        """For which samples the contestant has an output."""
        if contestant not in self._outputs:
            rows = Output.objects.filter(contestant_id=contestant).order_by()
            is_complete = rows.count() == self._all  # as a rule: then none need be read
            keys = rows.values_list("sample_id", flat=True)
            self._outputs[contestant] = np.ones(len(self), dtype=np.bool_) if is_complete else self._flags(keys)
        return self._outputs[contestant]

    def both(self, left: int, right: int) -> Flags:
        return self.outputs(left) & self.outputs(right)

    def settled(self, board: int, left: int, right: int, tried: Q | None = None, stretch: slice = slice(None)) -> Flags:
        """Which battles of a pair need not be fought: those that are decided on a board, and those that are `tried`.
        What lies outside of the stretch may be left unread.
        """
        rows = Battle.objects.filter(board_id=board, left_id=left, right_id=right, ballot="")
        among = self.samples[stretch]
        if among.size <= FEW and among.size < len(self):
            rows = rows.filter(sample_id__in=among.tolist())
        rows = rows.filter(SETTLED if tried is None else SETTLED | tried)
        return self._flags(rows.order_by().values_list("sample_id", flat=True))

    def flags_of(self, keys: Keys) -> Flags:
        """The flags of samples by their keys; keys of other samples are passed over."""
        in_order, place = self._shuffled.in_order, self._shuffled.place
        flags = np.zeros(len(self), dtype=np.bool_)
        if keys.size and in_order.size:
            at = np.minimum(np.searchsorted(in_order, keys), in_order.size - 1)
            flags[place[at[in_order[at] == keys]]] = True
        return flags

    def _flags(self, found: QuerySet[Any, Any]) -> Flags:
        return self.flags_of(_keys(found))


def first(flags: Flags, most: int) -> Flags:
    """The first `most` of the true ones."""
    return flags & (np.cumsum(flags) <= most)


@lru_cache(maxsize=KEPT)
def _shuffled(dataset_id: UUID, subsets: tuple[str, ...], seed: int, count: int, newest: int | None) -> Shuffled:
    """Read once: a dataset's samples do not change. count, newest: to notice it, should that ever be otherwise."""
    rows = Sample.objects.filter(dataset_id=dataset_id).order_by("pk")
    in_order = _keys((rows.filter(subset__in=subsets) if subsets else rows).values_list("pk", flat=True))
    drawn = np.random.Generator(np.random.PCG64(seed)).random(in_order.size)
    order = np.argsort(drawn, kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return Shuffled(in_order, place, in_order[order])


def _keys(rows: QuerySet[Any, Any]) -> Keys:
    return np.fromiter(rows.iterator(chunk_size=CHUNK), dtype=np.int64)
