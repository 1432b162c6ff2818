"""The scale on which ratings and their intervals are drawn, one bar per row."""

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


def axis_of(rows: Iterable[Row]) -> Axis | None:
    """A scale that holds every rating and interval; None where nobody is rated."""
    values = [value for row in rows for value in (row.lower, row.rating, row.upper) if value is not None]
    if not values:
        return None
    step = _step(max(values) - min(values))
    low, high = math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step
    high = high if high > low else low + step
    axis = Axis(low, high, ())
    return Axis(low, high, tuple((axis.at(tick), tick) for tick in range(low, high + 1, step)))


def bar(row: Row, axis: Axis) -> Bar | None:
    if row.rating is None and row.lower is None and row.upper is None:
        return None
    low = axis.low if row.lower is None else row.lower
    high = axis.high if row.upper is None else row.upper
    return Bar(None if row.rating is None else axis.at(row.rating), axis.at(low), axis.at(high))


def _step(extent: float) -> int:
    """Round distances between ticks: 10, 20, 50, 100, …"""
    steps = [factor * power for power in (10, 100, 1000, 10_000, 100_000, 1_000_000) for factor in (1, 2, 5)]
    return next(step for step in steps if extent / step <= MOST_TICKS - 1)


MOST_LINES = 8


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
    """names: who is drawn; everybody: who could be, those of the latest moment."""

    chart: charts.Chart
    names: tuple[str, ...]
    everybody: tuple[str, ...]
    moments: tuple[Moment, ...]


def history_chart(ladder: Ladder, chosen: Collection[str] = ()) -> History | None:
    """Those chosen, or else the highest at the latest moment. None where nothing has been noted yet."""
    last = ladder.points.aggregate(at=Max("at"))["at"]
    if last is None:
        return None
    everybody = tuple(ladder.points.filter(at=last).order_by("-rating", "name").values_list("name", flat=True))
    names = tuple(name for name in everybody if name in chosen)[:MOST_LINES] or everybody[:MOST_LINES]
    points: dict[datetime, dict[str, RatingPoint]] = {}
    for point in ladder.points.filter(name__in=names).order_by("at", "name"):
        points.setdefault(point.at, {})[point.name] = point
    drawn = _drawn(list(points.values()), names)
    moments = tuple(
        Moment(band.turn, at, _occasion(kept), tuple(map(kept.get, names)), band)
        for (at, kept), band in zip(points.items(), drawn.bands, strict=True)
    )
    return History(drawn, names, everybody, moments)


def _drawn(kept: list[dict[str, RatingPoint]], names: tuple[str, ...]) -> charts.Chart:
    numbers = list(range(1, len(kept) + 1))
    found = {name: [at.get(name) for at in kept] for name in names}
    series = [
        charts.Series(f"nth-{place}", name[:24], tuple(p.rating if p else None for p in found[name]))
        for place, name in enumerate(names)
    ]
    spreads = [
        charts.Spread(
            f"nth-{place}",
            tuple(p.lower if p else None for p in found[name]),
            tuple(p.upper if p else None for p in found[name]),
        )
        for place, name in enumerate(names)
    ]
    return charts.chart(numbers, series, _scale(kept, names), charts.OF_RATINGS, spreads)


def _scale(kept: list[dict[str, RatingPoint]], names: tuple[str, ...]) -> charts.Scale:
    points = [at[name] for at in kept for name in names if name in at]
    rows = [Row(p.name, "", rating=p.rating, lower=p.lower, upper=p.upper) for p in points]
    axis = axis_of(rows)
    if axis is None:
        return charts.Scale(900, 1100, (900, 1000, 1100))
    return charts.Scale(axis.low, axis.high, tuple(float(rating) for _place, rating in axis.ticks))


def _occasion(kept: dict[str, RatingPoint]) -> str:
    return next(iter(kept.values())).occasion
