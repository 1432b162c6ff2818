"""Strips: the values of several runs as dots on one scale, with their mean and its interval. Geometry only."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.runs.drawings.charts import Scale
from experiments.runs.statistics.estimates import Estimate

WIDTH, HEIGHT, MARGIN = 180.0, 26.0, 5.0
INTERVAL_Y, DOTS_Y, STACK = 7.0, 18.0, 2.8
HIGHEST_STACK = 3


@dataclass(frozen=True, slots=True)
class Strip:
    """A drawing of width x height. dots: places of the runs; mean None where there is none; low and high the ends of
    the interval, cut at the ends of the scale, None where there is none; zero: the middle of a scale with two sides.
    """

    width: float
    height: float
    dots: tuple[tuple[float, float], ...]
    mean: float | None
    low: float | None
    high: float | None
    zero: float | None
    interval_y: float = INTERVAL_Y
    dots_y: float = DOTS_Y


def strip(values: Sequence[float | None], estimate: Estimate, scale: Scale) -> Strip:
    """Equal values are piled up, so that each run is seen."""

    def x(value: float) -> float:
        inside = min(max(value, scale.low), scale.high)
        return round(MARGIN + (inside - scale.low) / (scale.high - scale.low) * (WIDTH - 2 * MARGIN), 2)

    piled: dict[float, int] = {}
    dots = []
    for value in values:
        if value is not None:
            place = x(value)
            level = piled[place] = piled.get(place, -1) + 1
            dots.append((place, round(DOTS_Y - STACK * (min(level, HIGHEST_STACK) - 1), 2)))
    return Strip(
        WIDTH,
        HEIGHT,
        tuple(dots),
        mean=None if estimate.mean is None else x(estimate.mean),
        low=None if estimate.low is None else x(estimate.low),
        high=None if estimate.high is None else x(estimate.high),
        zero=x(0) if scale.low < 0 < scale.high else None,
    )


def reach(values: Sequence[float | None]) -> Scale:
    """A scale from 0 to the largest value, for what has no upper end."""
    return Scale(0, max([value for value in values if value is not None], default=0) or 1, ())
