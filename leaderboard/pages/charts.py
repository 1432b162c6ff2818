"""Drawings: ratings with their intervals on one scale, a line per contestant, and a ladder's ratings over time."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from django.db.models import Max

from experiments.runs.drawings import charts
from leaderboard.boards.milestones import published
from leaderboard.boards.standings import Row
from leaderboard.models import Ladder, Milestone, RatingPoint

MARGIN = 2.0  # percent of the width
PADDING = 0.03  # of what the ratings reach over
MOST_TICKS = 5
MOST_DRAWN = 30
MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class Axis:
    """low, high: ratings at the ends. ticks: where a line is drawn, with its rating. Places are in percent."""

    low: float
    high: float
    ticks: tuple[tuple[float, int], ...]

    def at(self, rating: float) -> float:
        """The place of a rating, kept inside of the drawing."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (100 - 2 * MARGIN), 2)


@dataclass(frozen=True, slots=True)
class Mark:
    """A contestant's line. at: the place of its rating, None where there is a bound alone. low, high: the ends of the
    interval; one that has no bound, or lies beyond the scale, is open and drawn as an arrow.
    """

    row: Row
    at: float | None
    low: float
    high: float
    is_low_open: bool
    is_high_open: bool


@dataclass(frozen=True, slots=True)
class Intervals:
    """marks: the highest, MOST_DRAWN at most, of all that have a rating or a bound."""

    axis: Axis
    marks: tuple[Mark, ...]
    of: int

    @property
    def is_open(self) -> bool:
        return any(mark.is_low_open or mark.is_high_open for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Moment:
    """number: its place on the axis, from 1. values: rating, lower, upper of each line, None where it has none."""

    number: int
    at: datetime
    occasion: str
    values: tuple[RatingPoint | None, ...]
    band: charts.Band

    @property
    def known(self) -> tuple[RatingPoint, ...]:
        return tuple(point for point in self.values if point)


@dataclass(frozen=True, slots=True)
class History:
    """names: who is drawn; everybody: all contestants of the latest moment."""

    chart: charts.Chart
    names: tuple[str, ...]
    everybody: tuple[str, ...]
    moments: tuple[Moment, ...]


def axis_of(rows: Iterable[Row]) -> Axis | None:
    """A scale that holds every rating and interval; None where none is rated. Ticks are 10, 20, 50, 100, … apart."""
    values = [value for row in rows for value in (row.lower, row.rating, row.upper) if value is not None]
    if not values:
        return None
    reach = max(max(values) - min(values), 10.0)
    step = next(
        factor * 10**power for power in count(1) for factor in (1, 2, 5) if reach / (factor * 10**power) <= MOST_TICKS
    )
    low, high = min(values) - PADDING * reach, max(values) + PADDING * reach
    axis = Axis(low, high, ())
    ticks = range(math.ceil(low / step) * step, math.floor(high / step) * step + 1, step)
    return Axis(low, high, tuple((axis.at(tick), tick) for tick in ticks))


def scale_of(rows: Iterable[Row], usual: tuple[float, ...]) -> charts.Scale:
    """A chart's scale that holds every rating and interval; the usual ticks where none is rated."""
    axis = axis_of(rows)
    if axis is None:
        return charts.Scale(usual[0], usual[-1], usual)
    return charts.Scale(axis.low, axis.high, tuple(float(rating) for _place, rating in axis.ticks))


def intervals(rows: Iterable[Row]) -> Intervals | None:
    """One chart of all that have a rating or a bound, in the sequence given; None where nobody has. The scale is that
    of those with a rank, if there are any: who is known too little may reach beyond it.
    """
    drawn = [row for row in rows if (row.rating, row.lower, row.upper) != (None, None, None)]
    axis = axis_of([row for row in drawn if row.rank is not None] or drawn)
    if axis is None:
        return None
    return Intervals(axis, tuple(_mark(row, axis) for row in drawn[:MOST_DRAWN]), len(drawn))


def _mark(row: Row, axis: Axis) -> Mark:
    low, high = (-math.inf if row.lower is None else row.lower), (math.inf if row.upper is None else row.upper)
    at = None if row.rating is None else axis.at(row.rating)
    return Mark(row, at, axis.at(low), axis.at(high), low < axis.low, high > axis.high)


def history_chart(ladder: Ladder, chosen: Collection[str] = ()) -> History | None:
    """Those chosen, or else the highest at the latest moment. None where nothing has been noted yet."""
    last = ladder.points.aggregate(at=Max("at"))["at"]
    if last is None:
        return None
    everybody = tuple(ladder.points.filter(at=last).order_by("-rating", "name").values_list("name", flat=True))
    names = _drawn_names(everybody, chosen)
    kept: dict[datetime, dict[str, RatingPoint]] = {}
    for point in ladder.points.filter(name__in=names).order_by("at", "name"):
        kept.setdefault(point.at, {})[point.name] = point
    return _over_time(kept, names, everybody)


def milestones_chart(milestones: Iterable[Milestone], chosen: Collection[str] = ()) -> History | None:
    """The ratings as they were published, milestone by milestone; None where there is none."""
    kept = {
        one.taken: {
            found.name: RatingPoint(
                at=one.taken, occasion=one.name, name=found.name, rating=found.rating, lower=found.lower,
                upper=found.upper,
            )
            for found in published(one)
        }
        for one in sorted(milestones, key=lambda one: one.taken)
    }  # fmt: skip
    if not kept:
        return None
    newest = list(kept.values())[-1]
    everybody = tuple(sorted(newest, key=lambda name: (-newest[name].rating, name)))
    return _over_time(kept, _drawn_names(everybody, chosen), everybody)


def _drawn_names(everybody: tuple[str, ...], chosen: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in everybody if name in chosen)[:MOST_LINES] or everybody[:MOST_LINES]


def _over_time(
    kept: dict[datetime, dict[str, RatingPoint]], names: tuple[str, ...], everybody: tuple[str, ...]
) -> History:
    series, spreads = [], []
    for place, name in enumerate(names):
        points = [at.get(name) for at in kept.values()]
        ratings, lower, upper = (
            tuple(getattr(point, end) if point else None for point in points) for end in ("rating", "lower", "upper")
        )
        series.append(charts.Series(f"nth-{place}", name[:24], ratings))
        spreads.append(charts.Spread(f"nth-{place}", lower, upper))
    shown = [point for at in kept.values() for name, point in at.items() if name in names]
    rows = [Row(one.name, "", rating=one.rating, lower=one.lower, upper=one.upper) for one in shown]
    numbers = list(range(1, len(kept) + 1))
    drawn = charts.chart(numbers, series, scale_of(rows, (900, 1000, 1100)), charts.OF_RATINGS, spreads)
    moments = tuple(
        Moment(band.turn, at, next(iter(points.values())).occasion, tuple(map(points.get, names)), band)
        for (at, points), band in zip(kept.items(), drawn.bands, strict=True)
    )
    return History(drawn, names, everybody, moments)
