"""How what is missing is shared out: lane by lane (a pair, or a contestant), a stretch of samples at a time.

A pass visits every lane in each lap, so that all pairs advance together; no more than a visit's samples are in memory.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.grid import Flags, Grid

MOST_VISITS = 300  # of one draw: whoever draws has other things to do as well


class Lane(NamedTuple):
    """What is compared: two contestants, or for outputs one and the number of its seat. span: how many of the drawn
    samples concern it; it is done in `laps` stretches. quota: at most so many tasks; 0 for as many as there are.
    """

    left: int
    right: int
    span: int
    laps: int = 1
    quota: int = 0

    def stretch(self, lap: int) -> tuple[int, int]:
        return lap * self.span // self.laps, (lap + 1) * self.span // self.laps


@dataclass(frozen=True, slots=True)
class Place:
    """How far a pass has come: in lane number `lane` of lap `lap`, all before sample `rank`, with `drawn` tasks."""

    lap: int = 0
    lane: int = 0
    rank: int = 0
    drawn: int = 0

    @property
    def data(self) -> dict[str, int]:
        return asdict(self)


class Ground(Protocol):
    """What lanes are lanes of."""

    grid: Grid

    def missing(self, lane: Lane, stretch: slice = ...) -> Mapping[str, Flags]:
        """Which samples of the stretch are still to be done, by seat."""
        ...

    def task(self, lane: Lane, sample: int, seats: Sequence[str]) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """tasks: at most as many as asked for. place: where to go on; None when the pass has come to its end. count: tasks
    by every seat.
    """

    tasks: list[JsonObject]
    place: Place | None
    count: int


def laps_for(missing: int, per_visit: int) -> int:
    return max(1, math.ceil(missing / max(1, per_visit)))


def draw(ground: Ground, lanes: Sequence[Lane], place: Place, limit: int) -> Drawn:
    """The next tasks of a pass. Fewer than the limit, though the place is not None, when there was much to look at."""
    tasks: list[dict[str, Any]] = []
    count, visits, at = 0, 0, _next(lanes, place)
    while at is not None and len(tasks) < limit and visits < MOST_VISITS:
        found, seats, at = _visit(ground, lanes, at, limit - len(tasks))
        tasks += found
        count += seats
        visits += 1
    return Drawn(tasks, at, count)


def _visit(
    ground: Ground, lanes: Sequence[Lane], place: Place, limit: int
) -> tuple[list[dict[str, Any]], int, Place | None]:
    """Tasks from one stretch, how many seats they ask, and the place after it."""
    lane = lanes[place.lane]
    begin, end = lane.stretch(place.lap)
    missing = ground.missing(lane, slice(begin, end))
    wanted = np.zeros(len(ground.grid), dtype=np.bool_)
    for flags in missing.values():
        wanted |= flags
    begin = max(begin, place.rank)
    ranks = begin + np.flatnonzero(wanted[begin:end])
    left_of_quota = lane.quota - place.drawn if lane.quota else ranks.size
    ranks = ranks[:left_of_quota]
    taken = ranks[:limit]
    asked = [[seat for seat, flags in missing.items() if flags[rank]] for rank in taken]
    tasks = [ground.task(lane, int(ground.grid.samples[rank]), seats) for rank, seats in zip(taken, asked, strict=True)]
    count = sum(map(len, asked))
    if taken.size < ranks.size:
        return tasks, count, replace(place, rank=int(taken[-1]) + 1, drawn=place.drawn + int(taken.size))
    return tasks, count, _next(lanes, Place(place.lap, place.lane + 1))


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
