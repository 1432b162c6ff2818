"""What is missing, and how it is drawn: which battles are not decided on every judge's board, and which outputs nobody
has made yet, on a grid of samples in a sequence by seed.

What is missing is shared out lane by lane (a pair, or a contestant). A pass visits every lane in each lap, a stretch of
samples at a time, so that all pairs advance together; no more than a visit's samples are in memory.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from numpy.typing import NDArray

from experiments.models import Battle, Dataset, Experiment, Output, Sample
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.scope import SEAT, Pair, Scope, name_of

Flags = NDArray[np.bool_]
Keys = NDArray[np.int64]
CHUNK = 5000
KEPT = 4  # sequences of samples, 24 bytes for each sample
FEW = 500  # samples that are asked for by their keys
PAIRS_LOOKED_UP = 200  # one by one; of more, the whole board is read in one stream
MOST_VISITS = 300  # of one draw: whoever draws has other things to do as well
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
            flags = np.ones(len(self), dtype=np.bool_) if is_complete else self.flags_of(_keys(keys))
            self._outputs[contestant] = flags
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
        return self.flags_of(_keys(rows.order_by().values_list("sample_id", flat=True)))

    def flags_of(self, keys: Keys) -> Flags:
        """The flags of samples by their keys; keys of other samples are passed over."""
        in_order, place = self._shuffled.in_order, self._shuffled.place
        flags = np.zeros(len(self), dtype=np.bool_)
        if keys.size and in_order.size:
            at = np.minimum(np.searchsorted(in_order, keys), in_order.size - 1)
            flags[place[at[in_order[at] == keys]]] = True
        return flags


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


def first(flags: Flags, most: int) -> Flags:
    """The first `most` of the true ones."""
    return flags & (np.cumsum(flags) <= most)


class Lane(NamedTuple):
    """What is compared: two contestants, or for outputs one and the number of its seat. span: how many of the drawn
    samples concern it; it is done in `laps` stretches. quota: at most so many tasks; 0 for as many as there are.
    """

    left: int
    right: int
    span: int
    laps: int = 1
    quota: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """How far a pass has come: in lane number `lane` of lap `lap`, all before sample `rank`, with `drawn` tasks."""

    lap: int = 0
    lane: int = 0
    rank: int = 0
    drawn: int = 0


@dataclass(frozen=True, slots=True)
class Drawn:
    """tasks: at most as many as asked for. place: where to go on; None when the pass has come to its end. count: tasks
    by every seat.
    """

    tasks: list[JsonObject]
    place: Place | None
    count: int


class Survey(NamedTuple):
    """lanes: those in which something is missing. missing: how much in all; a battle counts once for each judge."""

    lanes: list[Lane]
    missing: int


def draw(ground: "Ground", lanes: Sequence[Lane], place: Place, limit: int) -> Drawn:
    """The next tasks of a pass. Fewer than the limit, though the place is not None, when there was much to look at."""
    tasks: list[JsonObject] = []
    count, at = 0, _next(lanes, place)
    for _visits in range(MOST_VISITS):
        if at is None or len(tasks) >= limit:
            break
        found = _visit(ground, lanes, at, limit - len(tasks))
        tasks += found.tasks
        count, at = count + found.count, found.place
    return Drawn(tasks, at, count)


def _visit(ground: "Ground", lanes: Sequence[Lane], place: Place, limit: int) -> Drawn:
    """Tasks from one stretch, and the place after it."""
    lane = lanes[place.lane]
    begin, end = (lap * lane.span // lane.laps for lap in (place.lap, place.lap + 1))
    missing = ground.missing(lane, slice(begin, end))
    wanted = np.zeros(len(ground.grid), dtype=np.bool_)
    for flags in missing.values():
        wanted |= flags
    begin = max(begin, place.rank)
    ranks = begin + np.flatnonzero(wanted[begin:end])
    if lane.quota:
        ranks = ranks[: lane.quota - place.drawn]
    taken = ranks[:limit]
    asked = [[seat for seat, flags in missing.items() if flags[rank]] for rank in taken]
    tasks = [ground.task(lane, int(ground.grid.samples[rank]), seats) for rank, seats in zip(taken, asked, strict=True)]
    if taken.size < ranks.size:
        after: Place | None = replace(place, rank=int(taken[-1]) + 1, drawn=place.drawn + int(taken.size))
    else:
        after = _next(lanes, Place(place.lap, place.lane + 1))
    return Drawn(tasks, after, sum(map(len, asked)))


def _next(lanes: Sequence[Lane], place: Place) -> Place | None:
    """The place itself, or the next one in which there is a lane with a stretch left."""
    while place.lane >= len(lanes) or lanes[place.lane].laps <= place.lap:
        if place.lane < len(lanes):
            place = Place(place.lap, place.lane + 1)
        elif any(lane.laps > place.lap + 1 for lane in lanes):
            place = Place(place.lap + 1, 0)
        else:
            return None
    return place


# --- grounds ---


class Samples(Protocol):
    """What tasks are about, by numbers in the drawn sequence."""

    @property
    def samples(self) -> Keys: ...

    def __len__(self) -> int: ...


class Ground(Protocol):
    """What a campaign shares out."""

    @property
    def grid(self) -> Samples: ...

    def missing(self, lane: Lane, stretch: slice = slice(None)) -> Mapping[str, Flags]:
        """Which samples of the stretch are still to be done, by seat."""

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject:
        """As the configuration of a run has it."""

    def survey(self) -> Survey:
        """Look at all there is once."""

    def count_done(self, experiment_id: UUID) -> int:
        """How much is done of what a campaign counts as wanted."""

    def has_open(self, experiment_id: UUID) -> bool:
        """Whether something that was tried is still to be done."""


class BattleGround:
    """Battles of an experiment. tried: which open ones are left alone for now."""

    def __init__(self, scope: Scope, seed: int, tried: Q | None = None) -> None:
        self.scope, self._tried = scope, tried
        self._taking_part = {one.pk for one in scope.contestants}
        self.grid = Grid(scope.dataset.pk, scope.config.subsets, seed)

    def targets(self, left: int, right: int) -> Flags:
        """The samples on which a pair is to be compared: the same for all pairs, as far as both have outputs."""
        both = self.grid.both(left, right)
        sampling = self.scope.config.sampling
        return first(both, sampling.per_pair) if sampling.plan == "sample" else both

    def missing(self, lane: Lane, stretch: slice = slice(None)) -> Mapping[str, Flags]:
        """Which samples of the stretch are still to be done, by seat: none, where one of the two has been left out
        since the lane was planned.
        """
        if not self._taking_part.issuperset((lane.left, lane.right)):
            return {}
        wanted = self.targets(lane.left, lane.right)
        return {
            seat: wanted & ~self.grid.settled(board, lane.left, lane.right, self._tried, stretch)
            for seat, board in self.scope.boards.items()
        }

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject:
        task: dict[str, Any] = {"sample": sample, "left": lane.left, "right": lane.right}
        return task if len(seats) == len(self.scope.boards) else {**task, "seats": list(seats)}

    def survey(self) -> Survey:
        """Look at every pair once. Those of which nothing or everything is decided are known from their counts; the
        others' battles are read, pair by pair.
        """
        by_board = [self._missing_on(board) for board in self.scope.boards.values()]
        lanes, total = [], 0
        for pair in self.scope.pairs:
            of_pair = [of_board.get(pair, 0) for of_board in by_board]
            if any(of_pair):
                targets = np.flatnonzero(self.targets(*pair))
                span = int(targets[-1]) + 1 if targets.size else 0  # so many drawn samples hold all that concern it
                lanes.append(Lane(*pair, span, laps(max(of_pair))))
                total += sum(of_pair)
        return Survey(lanes, total)

    def _missing_on(self, board: int) -> dict[Pair, int]:
        decided = pair_totals(board, self.scope.config.subsets)
        result: dict[Pair, int] = {}
        partly: list[Pair] = []
        for pair in self.scope.pairs:
            if not decided.get(pair):
                result[pair] = int(self.targets(*pair).sum())
            elif decided[pair] < int(self.grid.both(*pair).sum()):
                partly.append(pair)
        for pair, settled in self._settled(board, partly):
            result[pair] = int((self.targets(*pair) & ~settled).sum())
        return result

    def _settled(self, board: int, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Flags]]:
        if len(pairs) <= PAIRS_LOOKED_UP:
            yield from ((pair, self.grid.settled(board, *pair)) for pair in pairs)
            return
        wanted = set(pairs)
        rows = Battle.objects.filter(SETTLED, board=board, ballot="").order_by("left_id", "right_id", "sample_id")
        stream = rows.values_list("left_id", "right_id", "sample_id").iterator(chunk_size=CHUNK)
        for pair, of_pair in groupby(stream, key=itemgetter(0, 1)):
            if pair in wanted:
                wanted.discard(pair)
                yield pair, self.grid.flags_of(np.fromiter((row[2] for row in of_pair), dtype=np.int64))
        yield from ((pair, np.zeros(len(self.grid), dtype=np.bool_)) for pair in sorted(wanted))

    def count_done(self, experiment_id: UUID) -> int:
        """How much is done of what a campaign counts as wanted."""
        return Battle.objects.filter(experiment=experiment_id, judged__isnull=False).count()

    def has_open(self, experiment_id: UUID) -> bool:
        """Whether something that was tried is still to be done."""
        return Battle.objects.filter(OPEN_STILL, experiment=experiment_id, judged__isnull=True).exists()


class OutputGround:
    """Outputs that an experiment asks for: a lane is a contestant and the number of its seat. Contestants that the
    dataset does not know join it.
    """

    def __init__(self, experiment: Experiment, seed: int) -> None:
        config = experiment.parsed_config()
        dataset = Dataset.objects.get(slug=config.dataset)
        asked = []
        for participant in experiment.participants.select_related("model"):
            details = {"model": participant.model, "params": participant.params}
            contestant, _ = dataset.contestants.get_or_create(name=name_of(config, participant), defaults=details)
            asked.append((contestant.pk, int(participant.seat.removeprefix(SEAT))))
        self._asked = sorted(asked)
        self.grid = Grid(dataset.pk, config.subsets, seed)

    def missing(self, lane: Lane, stretch: slice = slice(None)) -> Mapping[str, Flags]:
        return {f"{SEAT}{lane.right}": ~self.grid.outputs(lane.left)}

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject:
        return {"sample": sample, "contestant": lane.left, "seat": seats[0]}

    def survey(self) -> Survey:
        missing = {asked: int((~self.grid.outputs(asked[0])).sum()) for asked in self._asked}
        lanes = [Lane(*asked, len(self.grid), laps(count)) for asked, count in missing.items() if count]
        return Survey(lanes, sum(missing.values()))

    def count_done(self, experiment_id: UUID) -> int:
        return sum(int(self.grid.outputs(contestant).sum()) for contestant, _seat in self._asked)

    def has_open(self, experiment_id: UUID) -> bool:
        return bool(self.survey().missing)


def laps(missing: int) -> int:
    """In how many stretches a lane is done."""
    return max(1, math.ceil(missing / max(1, settings.BATTLES_PER_RUN)))
