"""Line charts over turns: values become positions, lines, labels and ticks. What draws them (SVG, PDF) only draws."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Point = tuple[float, float]
Shape = tuple[Point, ...]

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
class Mark:
    """A value at its place. outline: the corners of its marker, empty where the line itself is enough."""

    turn: int
    value: float
    x: float
    y: float
    outline: Shape


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a line beside its last value; from_ is that value's place, y the middle of the words."""

    from_: Point
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """segments: the places between gaps, each drawn as one stroke. dash: strokes and gaps, empty for none."""

    key: str
    label: str
    dash: tuple[float, ...]
    segments: tuple[Shape, ...]
    marks: tuple[Mark, ...]
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
        return not any(line.marks for line in self.lines)


def chart(
    turns: Sequence[int],
    series: Sequence[Series],
    scale: Scale,
    size: Size | None = None,
    spreads: Sequence[Spread] = (),
) -> Chart:
    """The drawing of the series over `turns`, which rise. A turn that is left out, or None, breaks the line."""
    size = size or Size()
    places = _Places(turns, scale, size)
    labels = _end_labels(places, turns, series)
    lines = tuple(_line(places, turns, one, style, labels.get(one.key)) for style, one in enumerate(series))
    return Chart(
        size=size,
        plot_right=size.width - size.right,
        plot_bottom=size.height - size.bottom,
        x_ticks=tuple(Tick(places.x(turn), turn) for turn in x_ticks(turns)),
        y_ticks=tuple(Tick(places.y(value), value) for value in scale.ticks),
        lines=lines,
        bands=tuple(_band(places, turn) for turn in turns),
        labels_fit=len(labels) * LABEL_HEIGHT <= size.height,
        areas=tuple(_area(places, turns, spread) for spread in spreads),
    )


def x_ticks(turns: Sequence[int]) -> list[int]:
    """Whole turns at even distances, and the first one: at most MOST_X_TICKS and one more."""
    if not turns:
        return []
    first, last = turns[0], turns[-1]
    step = next(s for s in _steps() if (last - first) / s < MOST_X_TICKS)
    return (
        list(range(first, last + 1, step))
        if step == 1
        else [first, *range(-(-(first + 1) // step) * step, last + 1, step)]
    )


def spread(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Heights as near to the wanted ones as a distance between neighbours allows, within low and high when they fit."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    clusters: list[tuple[float, int]] = []
    for place in order:
        clusters.append((wanted[place], 1))
        while len(clusters) > 1 and _touch(clusters[-2], clusters[-1], distance):
            (upper, many), (lower, few) = clusters[-2:]
            clusters[-2:] = [((upper * many + lower * few) / (many + few), many + few)]
    heights = [middle + (n - (count - 1) / 2) * distance for middle, count in clusters for n in range(count)]
    heights = _within(heights, distance, low, high)
    return [heights[order.index(place)] for place in range(len(wanted))]


def _touch(upper: tuple[float, int], lower: tuple[float, int], distance: float) -> bool:
    return lower[0] - upper[0] < (upper[1] + lower[1]) / 2 * distance


def _within(heights: list[float], distance: float, low: float, high: float) -> list[float]:
    """Pushed back inside from the ends; `low` wins when there is no room."""
    limit = high
    for place in reversed(range(len(heights))):
        heights[place] = min(heights[place], limit)
        limit = heights[place] - distance
    limit = low
    for place, height in enumerate(heights):
        heights[place] = max(height, limit)
        limit = heights[place] + distance
    return heights


def _steps() -> Iterable[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


class _Places:
    """Where turns and values lie in the drawing."""

    def __init__(self, turns: Sequence[int], scale: Scale, size: Size) -> None:
        self._first, self._last = (turns[0], turns[-1]) if turns else (1, 1)
        self._scale, self.size = scale, size
        self.left, self.right = size.left + 6, size.width - size.right - 4
        self.top, self.bottom = size.top, size.height - size.bottom
        self.has_all_markers = len(turns) <= MARKERS_UP_TO

    def x(self, turn: int) -> float:
        if self._first == self._last:
            return round((self.left + self.right) / 2, 2)
        return round(self.left + (turn - self._first) / (self._last - self._first) * (self.right - self.left), 2)

    def y(self, value: float) -> float:
        inside = min(max(value, self._scale.low), self._scale.high)
        share = (inside - self._scale.low) / (self._scale.high - self._scale.low)
        return round(self.bottom - share * (self.bottom - self.top), 2)

    @property
    def step(self) -> float:
        turns = self._last - self._first
        return (self.right - self.left) / turns if turns else self.right - self.left


def _line(places: _Places, turns: Sequence[int], series: Series, style: int, end: Label | None) -> Line:
    runs = _unbroken(turns, series.values)
    segments = tuple(tuple((places.x(turn), places.y(value)) for turn, value in run) for run in runs)
    ends = {run[-1][0] for run in runs} | {run[0][0] for run in runs}
    marks = tuple(
        _mark(places, turn, value, style, is_shown=places.has_all_markers or turn in ends)
        for run in runs
        for turn, value in run
    )
    return Line(series.key, series.label, DASHES[style % len(DASHES)], segments, marks, end)


def _area(places: _Places, turns: Sequence[int], spread: Spread) -> Area:
    ends = dict(zip(turns, zip(spread.lows, spread.highs, strict=True), strict=True))
    has_both = [None if None in ends[turn] else 0.0 for turn in turns]
    stretches = [[turn for turn, _zero in run] for run in _unbroken(turns, has_both)]
    return Area(spread.key, tuple(_covered(places, stretch, ends) for stretch in stretches))


def _covered(places: _Places, stretch: Sequence[int], ends: Mapping[int, tuple[float | None, float | None]]) -> Shape:
    """Along the upper ends and back along the lower ones; a single turn gets a narrow bar."""
    xs = [places.x(turn) for turn in stretch]
    if len(stretch) == 1:
        stretch, xs = [stretch[0]] * 2, [xs[0] - AREA_HALF, xs[0] + AREA_HALF]
    corners = [(x, places.y(high)) for x, turn in zip(xs, stretch, strict=True) if (high := ends[turn][1]) is not None]
    under = [(x, places.y(low)) for x, turn in zip(xs, stretch, strict=True) if (low := ends[turn][0]) is not None]
    return (*corners, *reversed(under))


def _unbroken(turns: Sequence[int], values: Sequence[float | None]) -> list[list[tuple[int, float]]]:
    """Stretches of values without a gap: a None ends one, and so does a turn that is missing."""
    runs: list[list[tuple[int, float]]] = []
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


def _mark(places: _Places, turn: int, value: float, style: int, *, is_shown: bool) -> Mark:
    x, y = places.x(turn), places.y(value)
    shape = SHAPES[style % len(SHAPES)] if is_shown else ()
    return Mark(
        turn,
        value,
        x,
        y,
        tuple((round(x + dx * MARKER_RADIUS, 2), round(y + dy * MARKER_RADIUS, 2)) for dx, dy in shape),
    )


def _end_labels(places: _Places, turns: Sequence[int], series: Sequence[Series]) -> dict[str, Label]:
    """Each line's name at the height of its last value, moved where names would cover each other."""
    lasts = {one.key: last for one in series if (last := _last(turns, one.values))}
    wanted = [places.y(value) for _turn, value in lasts.values()]
    heights = spread(wanted, LABEL_HEIGHT, LABEL_HEIGHT / 2, places.size.height - LABEL_HEIGHT / 2)
    x = places.right + 4 + LABEL_GAP
    return {
        key: Label((places.x(turn), places.y(value)), x + LABEL_GAP, round(y, 2))
        for (key, (turn, value)), y in zip(lasts.items(), heights, strict=True)
    }


def _last(turns: Sequence[int], values: Sequence[float | None]) -> tuple[int, float] | None:
    return next(
        ((turn, value) for turn, value in zip(reversed(turns), reversed(values), strict=True) if value is not None),
        None,
    )


def _band(places: _Places, turn: int) -> Band:
    left = max(places.size.left, places.x(turn) - places.step / 2)
    right = min(places.size.width - places.size.right, places.x(turn) + places.step / 2)
    return Band(turn, round(left, 2), round(right - left, 2))


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
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (2, 2), (7, 2, 2, 2), (1, 2), (9, 3), (4, 2, 1, 2, 1, 2))
SHARE = Scale(0, 1, (0, 0.5, 1))
PERCENT = Scale(0, 100, (0, 50, 100))
BALANCE = Scale(-1, 1, (-1, 0, 1))
