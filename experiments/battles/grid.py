"""Which outputs there are and which battles are done: one flag per sample, in the sequence in which they are drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from experiments.models import Battle, Output, Sample

Flags = NDArray[np.bool_]
Keys = NDArray[np.int64]
CHUNK = 5000
SETTLED = ~Q(winner="") | Q(voided__isnull=False)  # whoever made a battle void wants no verdict of it


class Grid:
    """The samples of a dataset (or of some subsets) in a sequence drawn by seed, the same for everybody.

    samples: keys in that sequence. Every answer is one flag per sample, in that sequence: 1 byte each.
    """

    def __init__(self, dataset_id: Any, subsets: Sequence[str], seed: int) -> None:
        rows = Sample.objects.filter(dataset_id=dataset_id)
        self._subsets = list(subsets)
        if subsets:
            rows = rows.filter(subset__in=subsets)
        self._sorted = _keys(rows.order_by("pk").values_list("pk", flat=True))
        drawn = np.random.Generator(np.random.PCG64(seed)).random(self._sorted.size)
        order = np.argsort(drawn, kind="stable")
        self._place = np.empty(order.size, dtype=np.int64)
        self._place[order] = np.arange(order.size)
        self.samples = self._sorted[order]
        self._outputs: dict[int, Flags] = {}

    def __len__(self) -> int:
        return int(self.samples.size)

    def outputs(self, contestant: int) -> Flags:
        """For which samples the contestant has an output."""
        if contestant not in self._outputs:
            rows = Output.objects.filter(contestant_id=contestant)
            self._outputs[contestant] = self._flags(rows.order_by("sample").values_list("sample_id", flat=True))
        return self._outputs[contestant]

    def both(self, left: int, right: int) -> Flags:
        return self.outputs(left) & self.outputs(right)

    def settled(self, board: int, left: int, right: int, tried_since: Any = None) -> Flags:
        """Which battles of a pair are decided on a board, or were tried by a run that began since then."""
        rows = Battle.objects.filter(board_id=board, left_id=left, right_id=right, ballot="")
        return self._flags(_settled(rows, tried_since).order_by("sample").values_list("sample_id", flat=True))

    def flags_of(self, keys: Keys) -> Flags:
        """The flags of samples by their keys; keys of other samples are passed over."""
        flags = np.zeros(self.samples.size, dtype=np.bool_)
        if keys.size and self._sorted.size:
            at = np.minimum(np.searchsorted(self._sorted, keys), self._sorted.size - 1)
            flags[self._place[at[self._sorted[at] == keys]]] = True
        return flags

    def _flags(self, found: QuerySet[Any, Any]) -> Flags:
        return self.flags_of(_keys(found))


def first(flags: Flags, most: int) -> Flags:
    """The first `most` of the true ones."""
    return flags & (np.cumsum(flags) <= most)


def _settled(rows: Any, tried_since: Any) -> Any:
    return rows.filter(SETTLED if tried_since is None else SETTLED | Q(run__created__gte=tried_since))


def _keys(rows: QuerySet[Any, Any]) -> Keys:
    return np.fromiter(rows.iterator(chunk_size=CHUNK), dtype=np.int64)
