"""Line charts over turns, and curves in steps: values become places, lines and ticks. What draws them only draws."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

Point = tuple[float, float]
Shape = tuple[Point, ...]
V = TypeVar("V")

LABEL_HEIGHT = 11.0
LABEL_GAP = 6.0
MARKER_RADIUS = 3.2
AREA_HALF = 2.5  # half the width of an interval that stands alone
MOST_X_TICKS = 8
MARKERS_UP_TO = 30  # turns; beyond that only single points and the ends of lines are marked


@dataclass(frozen=True, slots=True)
class Series:
    """What is to be drawn: one value per turn of the chart, None where there is none. key chooses the colour."""

    key: str
    label: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """An interval around the values of the series with the same key: per turn its ends, None where there is none."""

    key: str
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the values, with the values at which the grid is drawn."""

    low: float
    high: float
    ticks: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of the drawing, and what is kept free around the plot for the ticks and the labels."""

    width: float = 320
    height: float = 150
    left: float = 26
    right: float = 86
    top: float = 10
    bottom: float = 20


OF_RATINGS = Size(width=760, height=320, left=38, right=150, top=12, bottom=22)  # a history of many lines, by name


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    value: float


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a line beside its last value; from_ is that value's place, y the middle of the words."""

    from_: Point
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """segments: the places between gaps, each drawn as one stroke. dash: strokes and gaps, empty for none. markers: the
    corners of each, around values that are marked.
    """

    key: str
    label: str
    dash: tuple[float, ...]
    segments: tuple[Shape, ...]
    markers: tuple[Shape, ...]
    end: Label | None


@dataclass(frozen=True, slots=True)
class Band:
    """The strip of the plot that belongs to a turn: pointing at it shows its values."""

    turn: int
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Area:
    """What a spread covers: one closed shape per stretch of turns that have an interval."""

    key: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing of width x height with y downwards. x_ticks are turns, y_ticks values."""

    size: Size
    plot_right: float
    plot_bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    lines: tuple[Line, ...]
    bands: tuple[Band, ...]
    labels_fit: bool
    areas: tuple[Area, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(line.segments for line in self.lines)


def chart(
    turns: Sequence[int],
    series: Sequence[Series],
    scale: Scale,
    size: Size | None = None,
    spreads: Sequence[Spread] = (),
) -> Chart:
    """The drawing of the series over `turns`, which rise. A turn that is left out, or None, breaks the line."""
    size = size or Size()
    plot = _Plot(turns, scale, size)
    labels = plot.labels(series)
    lines = [plot.line(one, style, labels.get(one.key)) for style, one in enumerate(series)]
    areas, bands = [plot.area(spread) for spread in spreads], [plot.band(turn) for turn in turns]
    return plot.framed(lines, areas, bands, labels_fit=len(labels) * LABEL_HEIGHT <= size.height)


def step_chart(
    turns: Sequence[int],
    series: Sequence[Series],
    spreads: Sequence[Spread],
    marked: Sequence[Collection[int]],
    scale: Scale,
    size: Size,
) -> Chart:
    """Curves that keep each value until the next of `turns`, which rise and may leave some out. marked: of each series,
    the turns at which a stroke crosses it. Lines have no labels.
    """
    plot, until = _Plot(turns, scale, size), [*turns[1:], turns[-1]]

    def stairs(values: Sequence[float | None]) -> list[Point]:
        places = zip(turns, until, values, strict=True)
        return [
            (plot.x(at), plot.y(value)) for first, last, value in places if value is not None for at in (first, last)
        ]

    def line(one: Series, strokes: Collection[int], dash: tuple[float, ...]) -> Line:
        heights = {turn: plot.y(value) for turn, value in zip(turns, one.values, strict=True) if value is not None}
        markers = tuple(_marker(STROKE, plot.x(turn), heights[turn]) for turn in sorted(heights.keys() & strokes))
        return Line(one.key, one.label, dash, (tuple(stairs(one.values)),), markers, None)

    lines = [line(*one) for one in zip(series, marked, DASHES[: len(series)], strict=True)]
    areas = [Area(one.key, ((*stairs(one.highs), *reversed(stairs(one.lows))),)) for one in spreads]
    ends = [*(plot.x(turn) for turn in turns[1:]), size.width]
    bands = [Band(turn, plot.x(turn), round(end - plot.x(turn), 2)) for turn, end in zip(turns, ends, strict=True)]
    return plot.framed(lines, areas, bands, labels_fit=False)


def x_ticks(turns: Sequence[int]) -> list[int]:
    """Whole turns at even distances, and the first one: at most MOST_X_TICKS and one more."""
    if not turns:
        return []
    first, last = turns[0], turns[-1]
    steps = (factor * 10**power for power in count() for factor in (1, 2, 5))
    step = next(step for step in steps if (last - first) / step < MOST_X_TICKS)
    return [first, *range(first + 1 if step == 1 else -(-(first + 1) // step) * step, last + 1, step)]


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Heights as near to the wanted ones as a distance between neighbours allows, within low and high when they fit."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    clusters: list[tuple[float, int]] = []  # the middles of labels that touch, and how many they are
    for place in order:
        clusters.append((wanted[place], 1))
        while len(clusters) > 1:
            (upper, many), (lower, few) = clusters[-2:]
            if lower - upper >= (many + few) / 2 * distance:
                break
            clusters[-2:] = [((upper * many + lower * few) / (many + few), many + few)]
    heights = [middle + (n - (size - 1) / 2) * distance for middle, size in clusters for n in range(size)]
    limit = high
    for place in reversed(range(len(heights))):  # pushed back inside from both ends; `low` wins when there is no room
        heights[place] = min(heights[place], limit)
        limit = heights[place] - distance
    limit = low
    for place, height in enumerate(heights):
        heights[place] = max(height, limit)
        limit = heights[place] + distance
    return [heights[order.index(place)] for place in range(len(wanted))]


class _Plot:
    """Where turns and values lie in the drawing."""

    def __init__(self, turns: Sequence[int], scale: Scale, size: Size) -> None:
        self._turns, self._scale, self._size = turns, scale, size
        self._first, self._last = (turns[0], turns[-1]) if turns else (1, 1)
        self._left, self._right = size.left + 6, size.width - size.right - 4
        self._top, self._bottom = size.top, size.height - size.bottom

    def framed(self, lines: Sequence[Line], areas: Sequence[Area], bands: Sequence[Band], *, labels_fit: bool) -> Chart:
        """The chart with its ticks."""
        size = self._size
        return Chart(
            size=size,
            plot_right=size.width - size.right,
            plot_bottom=size.height - size.bottom,
            x_ticks=tuple(Tick(self.x(turn), turn) for turn in x_ticks(self._turns)),
            y_ticks=tuple(Tick(self.y(value), value) for value in self._scale.ticks),
            lines=tuple(lines),
            bands=tuple(bands),
            labels_fit=labels_fit,
            areas=tuple(areas),
        )

    def x(self, turn: int) -> float:
        if self._first == self._last:
            return round((self._left + self._right) / 2, 2)
        return round(self._left + (turn - self._first) / (self._last - self._first) * (self._right - self._left), 2)

    def y(self, value: float) -> float:
        inside = min(max(value, self._scale.low), self._scale.high)
        share = (inside - self._scale.low) / (self._scale.high - self._scale.low)
        return round(self._bottom - share * (self._bottom - self._top), 2)

    def line(self, series: Series, style: int, end: Label | None) -> Line:
        runs = _unbroken(self._turns, series.values)
        segments = tuple(tuple((self.x(turn), self.y(value)) for turn, value in run) for run in runs)
        shape = SHAPES[style % len(SHAPES)]
        markers = tuple(
            _marker(shape, x, y)
            for segment in segments
            for place, (x, y) in enumerate(segment)
            if len(self._turns) <= MARKERS_UP_TO or place in (0, len(segment) - 1)
        )
        return Line(series.key, series.label, DASHES[style % len(DASHES)], segments, markers, end)

    def area(self, spread: Spread) -> Area:
        """Along the upper ends and back along the lower ones; a single turn gets a narrow bar."""
        ends = zip(spread.lows, spread.highs, strict=True)
        both = [None if low is None or high is None else (low, high) for low, high in ends]
        shapes = []
        for stretch in _unbroken(self._turns, both):
            upper = [(self.x(turn), self.y(high)) for turn, (_low, high) in stretch]
            lower = [(self.x(turn), self.y(low)) for turn, (low, _high) in stretch]
            if len(stretch) == 1:
                upper, lower = ([(x - AREA_HALF, y), (x + AREA_HALF, y)] for [(x, y)] in (upper, lower))
            shapes.append((*upper, *reversed(lower)))
        return Area(spread.key, tuple(shapes))

    def labels(self, series: Sequence[Series]) -> dict[str, Label]:
        """Each line's name at the height of its last value, moved where names would cover each other."""
        ends = {}
        for one in series:
            given = [(turn, value) for turn, value in zip(self._turns, one.values, strict=True) if value is not None]
            if given:
                ends[one.key] = (self.x(given[-1][0]), self.y(given[-1][1]))
        margin = LABEL_HEIGHT / 2
        heights = spread([y for _x, y in ends.values()], LABEL_HEIGHT, margin, self._size.height - margin)
        x = self._right + 4 + 2 * LABEL_GAP
        return {key: Label(end, x, round(y, 2)) for (key, end), y in zip(ends.items(), heights, strict=True)}

    def band(self, turn: int) -> Band:
        turns = self._last - self._first
        step = (self._right - self._left) / turns if turns else self._right - self._left
        left = max(self._size.left, self.x(turn) - step / 2)
        right = min(self._size.width - self._size.right, self.x(turn) + step / 2)
        return Band(turn, round(left, 2), round(right - left, 2))


def _unbroken(turns: Sequence[int], values: Sequence[V | None]) -> list[list[tuple[int, V]]]:
    """Stretches of values without a gap: a None ends one, and so does a turn that is missing."""
    runs: list[list[tuple[int, V]]] = []
    before: int | None = None
    for turn, value in zip(turns, values, strict=True):
        if value is None:
            before = None
            continue
        if before != turn - 1:
            runs.append([])
        runs[-1].append((turn, value))
        before = turn
    return runs


def _marker(shape: Shape, x: float, y: float) -> Shape:
    return tuple((round(x + dx * MARKER_RADIUS, 2), round(y + dy * MARKER_RADIUS, 2)) for dx, dy in shape)


def _polygon(corners: int, turned: float) -> Shape:
    angles = [turned + 2 * math.pi * n / corners for n in range(corners)]
    return tuple((round(math.sin(a), 4), round(-math.cos(a), 4)) for a in angles)


def _plus(turned: float) -> Shape:
    thin = 0.38
    corners = [(-thin, -1.1), (thin, -1.1), (thin, -thin), (1.1, -thin), (1.1, thin), (thin, thin)]
    corners += [(-x, -y) for x, y in corners]
    cos, sin = math.cos(turned), math.sin(turned)
    return tuple((round(x * cos - y * sin, 4), round(x * sin + y * cos, 4)) for x, y in corners)


SHAPES: tuple[Shape, ...] = (
    _polygon(12, 0),  # circle
    _polygon(4, math.pi / 4),  # square
    _polygon(3, 0),  # triangle
    _polygon(4, 0),  # diamond
    _plus(0),
    _polygon(3, math.pi),  # triangle pointing down
    _plus(math.pi / 4),  # cross
)
STROKE: Shape = ((-0.2, -1.6), (0.2, -1.6), (0.2, 1.6), (-0.2, 1.6))
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (2, 2), (7, 2, 2, 2), (1, 2), (9, 3), (4, 2, 1, 2, 1, 2))
SHARE = Scale(0, 1, (0, 0.5, 1))
PERCENT = Scale(0, 100, (0, 50, 100))
BALANCE = Scale(-1, 1, (-1, 0, 1))
