"""Drawings of a contest: where their lines and bars lie. Templates only write them down as SVG."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BINS = 20
HIGHEST = 10.0
LARGE = (480.0, 120.0)  # width and height of a histogram
RADIUS = 74.0
RADAR_WIDTH, RADAR_HEIGHT = 380.0, 200.0
LABEL_AT = 1.14  # radii from the middle
TICKS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
RINGS = (2.5, 5.0, 7.5, 10.0)

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bar:
    """low and high: the values that it counts, the low one included, the high one only in the last bar."""

    low: float
    high: float
    count: int
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often overall averages of 0 to 10 fell into each of 20 bins."""

    width: float
    height: float
    bars: tuple[Bar, ...]

    @property
    def count(self) -> int:
        return sum(bar.count for bar in self.bars)

    @property
    def highest(self) -> int:
        return max(bar.count for bar in self.bars)

    @property
    def ticks(self) -> tuple[Point, ...]:
        """Values below the axis, each with its place."""
        return tuple((value, round(value / HIGHEST * self.width, 2)) for value in TICKS)

    @property
    def filled(self) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.count)


@dataclass(frozen=True, slots=True)
class Spoke:
    """A dimension of the radar. end: its outer end; value None where nobody gave one."""

    name: str
    value: float | None
    end: Point
    place: Point
    label: Point
    anchor: str


@dataclass(frozen=True, slots=True)
class Radar:
    """Means of the dimensions, 0 to 10, on spokes from the middle. rings: polygons at 2.5, 5, 7.5 and 10."""

    middle: Point
    spokes: tuple[Spoke, ...]
    rings: tuple[tuple[Point, ...], ...]

    @property
    def shape(self) -> tuple[Point, ...]:
        return tuple(spoke.place for spoke in self.spokes if spoke.value is not None)


def histogram(values: Iterable[float | None], size: tuple[float, float] = LARGE) -> Histogram:
    """Of values from 0 to 10; None counts nowhere."""
    counts = [0] * BINS
    for value in values:
        if value is not None:
            counts[min(BINS - 1, max(0, int(value / HIGHEST * BINS)))] += 1
    width, height = size
    step, most = width / BINS, max(1, *counts)
    return Histogram(
        width, height, tuple(_bar(number, count, step, height, most) for number, count in enumerate(counts))
    )


def radar(values: Sequence[tuple[str, float | None]]) -> Radar:
    middle = (RADAR_WIDTH / 2, RADAR_HEIGHT / 2)
    angles = [2 * math.pi * number / len(values) - math.pi / 2 for number in range(len(values))]
    spokes = tuple(_spoke(middle, angle, name, value) for angle, (name, value) in zip(angles, values, strict=True))
    rings = tuple(tuple(_at(middle, angle, ring / HIGHEST) for angle in angles) for ring in RINGS)
    return Radar(middle, spokes, rings)


def _bar(number: int, count: int, step: float, height: float, most: int) -> Bar:
    tall = round(height * count / most, 2)
    low = number * HIGHEST / BINS
    return Bar(
        low, low + HIGHEST / BINS, count, round(number * step, 2), round(height - tall, 2), round(step - 1, 2), tall
    )


def _spoke(middle: Point, angle: float, name: str, value: float | None) -> Spoke:
    label = _at(middle, angle, LABEL_AT)
    anchor = "middle" if abs(label[0] - middle[0]) < 1 else "start" if label[0] > middle[0] else "end"
    place = _at(middle, angle, (value or 0.0) / HIGHEST)
    return Spoke(name, value, _at(middle, angle, 1.0), place, label, anchor)


def _at(middle: Point, angle: float, share: float) -> Point:
    x, y = middle
    return round(x + share * RADIUS * math.cos(angle), 2), round(y + share * RADIUS * math.sin(angle), 2)
