"""The scale on which ratings and their intervals are drawn, one bar per row."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.boards.standings import Row

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
