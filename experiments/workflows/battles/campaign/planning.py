"""What is missing: which battles are not decided on every judge's board, and which outputs nobody has made yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import Q

from experiments.models import Battle, Experiment
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.grid import CHUNK, SETTLED, Flags, Grid, first
from experiments.workflows.battles.campaign.lanes import Lane, Place, draw, laps_for
from experiments.workflows.battles.campaign.scope import Pair, Scope, scope_of

PAIRS_LOOKED_UP = 200  # one by one; of more, the whole board is read in one stream


@dataclass(frozen=True, slots=True)
class Survey:
    """lanes: those in which something is missing. missing: how much in all; a battle counts once for each judge."""

    lanes: list[Lane]
    missing: int


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
        """Nothing, where one of the two has been left out since the lane was planned."""
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


def missing(experiment: Experiment, limit: int, *, seed: int = 0) -> list[JsonObject]:
    """The first `limit` battles that are not decided on every judge's board, in the sequence in which a campaign with
    this seed begins them.
    """
    ground = BattleGround(scope_of(experiment), seed)
    tasks: list[dict[str, Any]] = []
    place: Place | None = Place()
    lanes = survey(ground).lanes
    while place is not None and len(tasks) < limit:
        drawn = draw(ground, lanes, place, limit - len(tasks))
        tasks += drawn.tasks
        place = drawn.place
    return tasks


def survey(ground: BattleGround) -> Survey:
    """Look at every pair once. Those of which nothing or everything is decided are known from their counts; the others'
    battles are read, pair by pair.
    """
    pairs = ground.scope.pairs
    by_board = [_missing_on(ground, board, pairs) for board in ground.scope.boards.values()]
    lanes, total = [], 0
    for pair in pairs:
        of_pair = [of_board.get(pair, 0) for of_board in by_board]
        if any(of_pair):
            span = _span(ground.targets(*pair))
            lanes.append(Lane(*pair, span, laps_for(max(of_pair), settings.BATTLES_PER_RUN)))
            total += sum(of_pair)
    return Survey(lanes, total)


def _missing_on(ground: BattleGround, board: int, pairs: Sequence[Pair]) -> dict[Pair, int]:
    decided = pair_totals(board, ground.scope.config.subsets)
    result: dict[Pair, int] = {}
    partly: list[Pair] = []
    for pair in pairs:
        possible = int(ground.grid.both(*pair).sum())
        if not decided.get(pair):
            result[pair] = int(ground.targets(*pair).sum())
        elif decided[pair] < possible:
            partly.append(pair)
    for pair, settled in _settled(ground, board, partly):
        result[pair] = int((ground.targets(*pair) & ~settled).sum())
    return result


def _settled(ground: BattleGround, board: int, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, Flags]]:
    if len(pairs) <= PAIRS_LOOKED_UP:
        yield from ((pair, ground.grid.settled(board, *pair)) for pair in pairs)
        return
    wanted = set(pairs)
    rows = Battle.objects.filter(SETTLED, board=board, ballot="").order_by("left_id", "right_id", "sample_id")
    stream = rows.values_list("left_id", "right_id", "sample_id").iterator(chunk_size=CHUNK)
    for pair, of_pair in groupby(stream, key=itemgetter(0, 1)):
        if pair in wanted:
            wanted.discard(pair)
            yield pair, ground.grid.flags_of(np.fromiter((row[2] for row in of_pair), dtype=np.int64))
    yield from ((pair, np.zeros(len(ground.grid), dtype=np.bool_)) for pair in sorted(wanted))


def _span(flags: Flags) -> int:
    """How many of the drawn samples it takes to meet all that are true."""
    return int(np.flatnonzero(flags)[-1]) + 1 if flags.any() else 0
