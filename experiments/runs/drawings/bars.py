"""Columns over days: amounts become positions, heights and ticks. What draws them only draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 640.0, 160.0
LEFT, BOTTOM, TOP = 52.0, 20.0, 8.0
MOST_LABELS = 8


@dataclass(frozen=True, slots=True)
class Column:
    """One day: its bar, and the band around it that answers to the pointer."""

    label: str
    value: float
    x: float
    width: float
    y: float
    height: float
    band_x: float
    band_width: float
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
    floor: float = HEIGHT - BOTTOM

    @property
    def is_empty(self) -> bool:
        return not any(column.value for column in self.columns)


def columns(rows: Sequence[tuple[str, float]]) -> Columns:
    """Of days in their order, each with its amount."""
    top = _round_up(max((value for _day, value in rows), default=0.0))
    step = (WIDTH - LEFT) / max(1, len(rows))
    every = -(-len(rows) // MOST_LABELS)
    made = tuple(_column(place, day, value, step, top, every) for place, (day, value) in enumerate(rows))
    return Columns(made, tuple((share * top, _y(share)) for share in (0.0, 0.5, 1.0)))


def _column(place: int, day: str, value: float, step: float, top: float, every: int) -> Column:
    band, width, y = LEFT + place * step, max(1.0, step * 0.7), _y(value / top)
    x = band + (step - width) / 2
    is_labelled = place % every == 0
    return Column(day, value, x, width, y, HEIGHT - BOTTOM - y, band, step, is_labelled, band + step / 2)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10 … at which a scale may end."""
    if value <= 0:
        return 1.0
    power = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 1.0
    while power > value:
        power /= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= value * (1 - 1e-12))


def short_day(day: str) -> str:
    """28 Feb as 02-28."""
    return date.fromisoformat(day).strftime("%m-%d")
