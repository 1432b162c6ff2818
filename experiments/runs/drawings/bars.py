"""Small drawings: columns over days or hours, and the values of several runs as dots on one scale. Geometry only."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.runs.drawings.charts import Scale
from experiments.runs.statistics.estimates import Estimate

WIDTH, HEIGHT = 640.0, 168.0
LEFT, BOTTOM, TOP = 88.0, 28.0, 8.0  # "$0.0050" and a day in letters of 20, as on a narrow page
MOST_LABELS = 8
STRIP_WIDTH, STRIP_HEIGHT, MARGIN = 180.0, 26.0, 5.0
INTERVAL_Y, DOTS_Y, STACK = 7.0, 18.0, 2.8
HIGHEST_STACK = 3


@dataclass(frozen=True, slots=True)
class Column:
    """One day. middle: of its label."""

    label: str
    value: float
    x: float
    width: float
    y: float
    height: float
    is_labelled: bool
    middle: float


@dataclass(frozen=True, slots=True)
class Columns:
    """A drawing of width x height with y downwards. ticks: values with their heights."""

    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, float], ...]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT

    @property
    def is_empty(self) -> bool:
        return not any(column.value for column in self.columns)


def columns(rows: Sequence[tuple[str, float]]) -> Columns:
    """Of days in their order, each with its amount. The scale ends at the next of 1, 2, 5, 10 …"""
    most = max((value for _day, value in rows), default=0.0)
    power = 10.0 ** (len(f"{most:.0f}") - 1) if most >= 1 else 1.0
    while power > most > 0:
        power /= 10
    top = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= most * (1 - 1e-12))
    floor = HEIGHT - BOTTOM
    step = (WIDTH - LEFT) / max(1, len(rows))
    every = -(-len(rows) // MOST_LABELS)
    drawn = []
    for place, (day, value) in enumerate(rows):
        left, width, height = LEFT + place * step, max(1.0, step * 0.7), value / top * (floor - TOP)
        x, y = left + (step - width) / 2, floor - height
        drawn.append(Column(day, value, x, width, y, height, place % every == 0, left + step / 2))
    ticks = tuple((share * top, floor - share * (floor - TOP)) for share in (0.0, 0.5, 1.0))
    return Columns(tuple(drawn), ticks)


@dataclass(frozen=True, slots=True)
class Strip:
    """A drawing of width x height. dots: places of the runs; mean None where there is none; low and high the ends of
    the interval, cut at the ends of the scale, None where there is none; zero: the middle of a scale with two sides.
    """

    dots: tuple[tuple[float, float], ...]
    mean: float | None
    low: float | None
    high: float | None
    zero: float | None
    width: float = STRIP_WIDTH
    height: float = STRIP_HEIGHT
    interval_y: float = INTERVAL_Y


def strip(values: Sequence[float | None], estimate: Estimate, scale: Scale, width: float = STRIP_WIDTH) -> Strip:
    """Equal values are piled up, so that each run is seen."""

    def x(value: float) -> float:
        inside = min(max(value, scale.low), scale.high)
        return round(MARGIN + (inside - scale.low) / (scale.high - scale.low) * (width - 2 * MARGIN), 2)

    piled: dict[float, int] = {}
    dots = []
    for value in values:
        if value is not None:
            place = x(value)
            level = piled[place] = piled.get(place, -1) + 1
            dots.append((place, round(DOTS_Y - STACK * (min(level, HIGHEST_STACK) - 1), 2)))
    return Strip(
        tuple(dots),
        mean=None if estimate.mean is None else x(estimate.mean),
        low=None if estimate.low is None else x(estimate.low),
        high=None if estimate.high is None else x(estimate.high),
        zero=x(0) if scale.low < 0 < scale.high else None,
        width=width,
    )


def reach(values: Sequence[float | None]) -> Scale:
    """A scale from 0 to the largest value, for what has no upper end."""
    return Scale(0, max([value for value in values if value is not None], default=0) or 1, ())
