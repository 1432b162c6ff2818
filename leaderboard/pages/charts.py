"""Drawings: ratings with their intervals on a scale, one bar per row, and a ladder's history over time."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from experiments.runs.drawings import charts
from leaderboard.boards.standings import Row
from leaderboard.models import Ladder, RatingPoint

WIDTH, HEIGHT, MARGIN = 200.0, 18.0, 8.0
MOST_TICKS = 5
MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class Axis:
    """low, high: ratings at the ends. ticks: where a line is drawn, with its rating."""

    low: float
    high: float
    ticks: tuple[tuple[float, int], ...]

    def at(self, rating: float) -> float:
        """The place of a rating, kept inside of the drawing."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 2)


@dataclass(frozen=True, slots=True)
class Bar:
    """Places of the rating, None where there is a bound alone, and of the interval's ends, or the drawing's."""

    at: float | None
    low: float
    high: float


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
    steps = [factor * power for power in (10, 100, 1000, 10_000, 100_000, 1_000_000) for factor in (1, 2, 5)]
    step = next(step for step in steps if (max(values) - min(values)) / step <= MOST_TICKS - 1)
    low, high = math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step
    high = high if high > low else low + step
    axis = Axis(low, high, ())
    return Axis(low, high, tuple((axis.at(tick), tick) for tick in range(low, high + 1, step)))


def scale_of(rows: Iterable[Row], usual: tuple[float, ...]) -> charts.Scale:
    """A chart's scale that holds every rating and interval; the usual ticks where none is rated."""
    axis = axis_of(rows)
    if axis is None:
        return charts.Scale(usual[0], usual[-1], usual)
    return charts.Scale(axis.low, axis.high, tuple(float(rating) for _place, rating in axis.ticks))


def bar(row: Row, axis: Axis) -> Bar | None:
    if row.rating is None and row.lower is None and row.upper is None:
        return None
    low = axis.low if row.lower is None else row.lower
    high = axis.high if row.upper is None else row.upper
    return Bar(None if row.rating is None else axis.at(row.rating), axis.at(low), axis.at(high))


def history_chart(ladder: Ladder, chosen: Collection[str] = ()) -> History | None:
    """Those chosen, or else the highest at the latest moment. None where nothing has been noted yet."""
    last = ladder.points.aggregate(at=Max("at"))["at"]
    if last is None:
        return None
    everybody = tuple(ladder.points.filter(at=last).order_by("-rating", "name").values_list("name", flat=True))
    names = tuple(name for name in everybody if name in chosen)[:MOST_LINES] or everybody[:MOST_LINES]
    kept: dict[datetime, dict[str, RatingPoint]] = {}
    for point in ladder.points.filter(name__in=names).order_by("at", "name"):
        kept.setdefault(point.at, {})[point.name] = point
    series, spreads = [], []
    for place, name in enumerate(names):
        points = [at.get(name) for at in kept.values()]
        ratings, lower, upper = (
            tuple(getattr(point, end) if point else None for point in points) for end in ("rating", "lower", "upper")
        )
        series.append(charts.Series(f"nth-{place}", name[:24], ratings))
        spreads.append(charts.Spread(f"nth-{place}", lower, upper))
    rows = [Row(p.name, "", rating=p.rating, lower=p.lower, upper=p.upper) for at in kept.values() for p in at.values()]
    numbers = list(range(1, len(kept) + 1))
    drawn = charts.chart(numbers, series, scale_of(rows, (900, 1000, 1100)), charts.OF_RATINGS, spreads)
    moments = tuple(
        Moment(band.turn, at, next(iter(points.values())).occasion, tuple(map(points.get, names)), band)
        for (at, points), band in zip(kept.items(), drawn.bands, strict=True)
    )
    return History(drawn, names, everybody, moments)
