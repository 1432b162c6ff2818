"""The ratings of a contest as its page shows them: a board with drawn intervals, and the lines of its history."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.models import Run
from experiments.runs import figures
from experiments.runs.drawings import charts
from experiments.workflows.coding.pages import ratings
from experiments.workflows.coding.pages.rated import Moment, RunRatings, Solver

WIDTH, HEIGHT, MARGIN = 180.0, 18.0, 6.0  # of an interval's drawing
MOST_TICKS = 5
LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class Bar:
    """Where a rating and the ends of its interval lie; an end without a bound is the end of the drawing."""

    at: float
    low: float
    high: float
    has_interval: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A model on the board. bar None where it has no rating."""

    solver: Solver
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class After:
    """The compatible board after a cycle: the ratings in the order of the lines of the chart."""

    moment: Moment
    band: charts.Band
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class History:
    chart: charts.Chart
    labels: tuple[str, ...]
    cycles: tuple[After, ...]


def of_run(run: Run) -> dict[str, object]:
    """found None as long as no cycle counts."""
    found = ratings.of_run(run)
    if found is None:
        return {"found": None}
    return {"found": found, "lines": _lines(found), "history": _history(found)}


def _lines(found: RunRatings) -> list[Line]:
    """By rank; those without one by the compatible board."""
    ordered = sorted(found.solvers, key=lambda one: (figures.sequence(one), -one.compatible))
    values = [v for one in ordered for v in (one.lower, one.rating, one.upper) if v is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return [Line(one, _bar(one, low, high)) for one in ordered]


def _bar(solver: Solver, low: float, high: float) -> Bar | None:
    if solver.rating is None:
        return None
    has_interval = solver.lower is not None or solver.upper is not None
    ends = (
        (low if solver.lower is None else solver.lower, high if solver.upper is None else solver.upper)
        if has_interval
        else (solver.rating, solver.rating)
    )
    extent = (high - low) or 1.0
    at, left, right = (
        round(MARGIN + (value - low) / extent * (WIDTH - 2 * MARGIN), 2) for value in (solver.rating, *ends)
    )
    return Bar(at, left, right, has_interval)


def _history(found: RunRatings) -> History:
    names = [solver.name for solver in found.solvers]
    labels = tuple(solver.shown for solver in found.solvers)
    values = {name: tuple(moment.compatible.get(name) for moment in found.history) for name in names}
    series = [
        charts.Series(f"nth-{place}", label[:LONGEST_NAME], values[name])
        for place, (name, label) in enumerate(zip(names, labels, strict=True))
    ]
    given = [value for line in values.values() for value in line if value is not None]
    drawn = charts.chart([moment.number for moment in found.history], series, _scale(given), charts.OF_RATINGS)
    cycles = tuple(
        After(moment, band, tuple(moment.compatible.get(name) for name in names))
        for moment, band in zip(found.history, drawn.bands, strict=True)
    )
    return History(drawn, labels, cycles)


def _scale(values: Sequence[float]) -> charts.Scale:
    """Round ends around all values, with a few ticks at even distances."""
    extent = max(values) - min(values)
    steps = (factor * 10**power for power in range(1, 6) for factor in (1, 2, 5))
    step = next(step for step in steps if extent / step <= MOST_TICKS - 1)
    low, high = math.floor(min(values) / step) * step, math.ceil(max(values) / step) * step
    high = high if high > low else low + step
    return charts.Scale(low, high, tuple(float(tick) for tick in range(low, high + 1, step)))
