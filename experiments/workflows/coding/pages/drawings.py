"""Drawings of a contest: where lines, bars and labels lie. Templates only write them down as SVG."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.models import Run
from experiments.runs import figures
from experiments.runs.drawings import charts
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.rated import RunRatings, Solver

Point = tuple[float, float]


# --- how often overall averages fell into each of 20 bins ---

BINS = 20
HIGHEST = 10.0
LARGE = (480.0, 120.0)  # width and height of a histogram
TICKS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)


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
    """ticks: values below the axis, each with its place."""

    width: float
    height: float
    bars: tuple[Bar, ...]
    ticks: tuple[Point, ...]

    @property
    def count(self) -> int:
        return sum(bar.count for bar in self.bars)

    @property
    def filled(self) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.count)


def histogram(values: Iterable[float | None], size: tuple[float, float] = LARGE) -> Histogram:
    """Of values from 0 to 10; None counts nowhere."""
    counts = [0] * BINS
    for value in values:
        if value is not None:
            counts[min(BINS - 1, max(0, int(value / HIGHEST * BINS)))] += 1
    width, height = size
    step, most, bars = width / BINS, max(1, *counts), []
    for number, count in enumerate(counts):
        low, tall = number * HIGHEST / BINS, round(height * count / most, 2)
        x, y = round(number * step, 2), round(height - tall, 2)
        bars.append(Bar(low, low + HIGHEST / BINS, count, x, y, round(step - 1, 2), tall))
    return Histogram(width, height, tuple(bars), tuple((tick, round(tick / HIGHEST * width, 2)) for tick in TICKS))


# --- the means of a solution's dimensions, on spokes from the middle ---

RADIUS = 74.0
RADAR_WIDTH, RADAR_HEIGHT = 380.0, 200.0
LABEL_AT = 1.14  # radii from the middle
RINGS = (2.5, 5.0, 7.5, 10.0)


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
    """Means of the dimensions, 0 to 10. rings: polygons at 2.5, 5, 7.5 and 10."""

    middle: Point
    spokes: tuple[Spoke, ...]
    rings: tuple[tuple[Point, ...], ...]

    @property
    def shape(self) -> tuple[Point, ...]:
        return tuple(spoke.place for spoke in self.spokes if spoke.value is not None)


def radar(values: Sequence[tuple[str, float | None]]) -> Radar:
    x, y = RADAR_WIDTH / 2, RADAR_HEIGHT / 2
    angles = [2 * math.pi * number / len(values) - math.pi / 2 for number in range(len(values))]

    def at(angle: float, share: float) -> Point:
        return round(x + share * RADIUS * math.cos(angle), 2), round(y + share * RADIUS * math.sin(angle), 2)

    spokes = []
    for angle, (name, value) in zip(angles, values, strict=True):
        label = at(angle, LABEL_AT)
        anchor = "middle" if abs(label[0] - x) < 1 else "start" if label[0] > x else "end"
        spokes.append(Spoke(name, value, at(angle, 1.0), at(angle, (value or 0.0) / HIGHEST), label, anchor))
    rings = tuple(tuple(at(angle, ring / HIGHEST) for angle in angles) for ring in RINGS)
    return Radar((x, y), tuple(spokes), rings)


# --- the ratings of a contest: a board with drawn intervals, and the lines of its history ---

INTERVAL_WIDTH, MARGIN = 180.0, 6.0
MOST_TICKS = 5
LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a rating and the ends of its interval lie; an end without a bound is the end of the drawing."""

    at: float
    low: float
    high: float
    has_interval: bool


def ratings_of_run(run: Run) -> dict[str, object]:
    """The context of its ratings' page. found None as long as no cycle counts."""
    found = ratings.of_run(run)
    return {"found": found, "lines": _board(found), "history": _history(found)} if found else {"found": None}


def _board(found: RunRatings) -> list[dict[str, object]]:
    """By rank; those without one by the compatible board. bar None where a model has no rating."""
    ordered = sorted(found.solvers, key=lambda one: (figures.sequence(one), -one.compatible))
    values = [v for one in ordered for v in (one.lower, one.rating, one.upper) if v is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    extent = (high - low) or 1.0

    def place(value: float) -> float:
        return round(MARGIN + (value - low) / extent * (INTERVAL_WIDTH - 2 * MARGIN), 2)

    def bar(one: Solver) -> Interval | None:
        if one.rating is None:
            return None
        if one.lower is None and one.upper is None:
            return Interval(place(one.rating), place(one.rating), place(one.rating), has_interval=False)
        left, right = low if one.lower is None else one.lower, high if one.upper is None else one.upper
        return Interval(place(one.rating), place(left), place(right), has_interval=True)

    return [{"solver": one, "bar": bar(one)} for one in ordered]


def _history(found: RunRatings) -> dict[str, object]:
    """The compatible board after each cycle: a chart, and the ratings in the order of its lines."""
    labels = [solver.shown for solver in found.solvers]
    lines = [tuple(one.compatible.get(solver.name) for one in found.history) for solver in found.solvers]
    series = [
        charts.Series(f"nth-{place}", label[:LONGEST_NAME], line)
        for place, (label, line) in enumerate(zip(labels, lines, strict=True))
    ]
    scale = _scale([value for line in lines for value in line if value is not None])
    chart = charts.chart([moment.number for moment in found.history], series, scale, charts.OF_RATINGS)
    columns = zip(found.history, chart.bands, zip(*lines, strict=True), strict=True)
    cycles = [{"moment": moment, "band": band, "values": values} for moment, band, values in columns]
    return {"chart": chart, "labels": labels, "cycles": cycles}


def _scale(values: Sequence[float]) -> charts.Scale:
    """Round ends around all values, with a few ticks at even distances."""
    lowest, highest = min(values), max(values)
    steps = (factor * 10**power for power in range(1, 6) for factor in (1, 2, 5))
    step = next(step for step in steps if (highest - lowest) / step <= MOST_TICKS - 1)
    low, high = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    high = high if high > low else low + step
    return charts.Scale(low, high, tuple(float(tick) for tick in range(low, high + 1, step)))
