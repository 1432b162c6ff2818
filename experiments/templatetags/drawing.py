"""Charts of the metrics, as SVG."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.translation import gettext as _

from experiments.models.labels import SENTIMENT_LABELS
from experiments.runs.drawings import charts
from experiments.templatetags.arena import MINUS
from experiments.workflows.base.judge import SENTIMENTS

register = template.Library()


@dataclass(frozen=True, slots=True)
class Row:
    """A turn: in the table behind a chart, and in the chart as the band that shows its values."""

    turn: int
    values: tuple[float | None, ...]
    band: charts.Band


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its words. name is unique on the page."""

    name: str
    title: str
    chart: charts.Chart
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@register.simple_tag
def sentiment_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Seven sentiments, 0 to 1, over the turns of a seat."""
    series = [
        charts.Series(
            name, str(SENTIMENT_LABELS[name]), tuple(turn["sentiment"].get(name) for turn in metrics["turns"])
        )
        for name in SENTIMENTS
    ]
    return drawing(f"{seat}-sentiment", _("Sentiment (0 to 1)"), _turns(metrics), series, charts.SHARE)


@register.simple_tag
def deviation_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Goal deviation, 0 to 100 %."""
    values = tuple(turn["goal_deviation"] for turn in metrics["turns"])
    series = [charts.Series(f"side-{seat}", _("deviation"), values)]
    size = charts.Size(height=84, right=12)
    return drawing(f"{seat}-deviation", _("Goal deviation (%)"), _turns(metrics), series, charts.PERCENT, size)


@register.simple_tag
def cooperation_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Cooperation, -1 to 1."""
    values = tuple(turn["cooperation"] for turn in metrics["turns"])
    series = [charts.Series(f"side-{seat}", _("cooperation"), values)]
    size = charts.Size(height=84, right=12)
    title = _("Cooperation (−1 to 1)")
    return drawing(f"{seat}-cooperation", title, _turns(metrics), series, charts.BALANCE, size)


@register.filter
def points(shape: Iterable[charts.Point]) -> str:
    """Places as SVG writes them."""
    return " ".join(f"{x:g},{y:g}" for x, y in shape)


@register.filter
def dashes(dash: Iterable[float]) -> str:
    return " ".join(f"{length:g}" for length in dash)


@register.filter
def coordinate(value: float) -> str:
    return f"{value:g}"


@register.filter
def minus(value: float, less: float) -> str:
    return f"{value - less:g}"


@register.filter
def tick_label(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)


@register.filter
def named(values: Iterable[float | None], names: Iterable[str]) -> list[tuple[str, float | None]]:
    """Each value with its name."""
    return list(zip(names, values, strict=True))


def drawing(
    name: str,
    title: str,
    turns: Sequence[int],
    series: Sequence[charts.Series],
    scale: charts.Scale,
    size: charts.Size | None = None,
) -> Drawing:
    """A chart of the series, with the same values as a table."""
    chart = charts.chart(turns, series, scale, size)
    rows = tuple(
        Row(band.turn, tuple(one.values[place] for one in series), band) for place, band in enumerate(chart.bands)
    )
    return Drawing(name, title, chart, tuple(one.label for one in series), rows)


def _turns(metrics: Mapping[str, Any]) -> list[int]:
    return [turn["turn"] for turn in metrics["turns"]]
