"""Rates and means as bars beside their figures: geometry only."""

from dataclasses import dataclass

from experiments.library.instruments.figures import Figure
from experiments.workflows.base.instruments import ScaleDimension

WIDTH, HEIGHT, MARGIN = 180.0, 20.0, 4.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A drawing of width x height: a bar from the low end of the scale to the value, with its interval. None where
    there is no such number.
    """

    value: float | None
    low: float | None
    high: float | None
    start: float = MARGIN
    end: float = WIDTH - MARGIN
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def length(self) -> float:
        return round((self.value or self.start) - self.start, 2)


def bar(figure: Figure) -> Bar:
    """A rate from 0 to 1, a mean on its scale, and of what has no upper end up to its interval's."""
    if figure.is_rate:
        first, last = 0.0, 1.0
    elif isinstance(figure.dimension, ScaleDimension):
        first, last = figure.dimension.low, figure.dimension.high
    else:
        first, last = 0.0, max(figure.high or 0.0, figure.value or 0.0) or 1.0

    def x(value: float | None) -> float | None:
        if value is None:
            return None
        inside = min(max(value, first), last)
        return round(MARGIN + (inside - first) / (last - first) * (WIDTH - 2 * MARGIN), 2)

    return Bar(x(figure.value), x(figure.low), x(figure.high))
