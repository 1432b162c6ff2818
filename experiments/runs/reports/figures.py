"""The charts of a report: the same drawings as on the run's page, wide and below each other when turns are many."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from experiments.models.labels import SENTIMENT_LABELS
from experiments.runs.drawings import charts
from experiments.runs.reports.words import seat_name
from experiments.templatetags.drawing import Drawing, Row
from experiments.workflows.base.events import JudgedTurn
from experiments.workflows.base.judge import SENTIMENTS

MANY_TURNS = 20
BESIDE = (330.0, 230.0)  # widths of the large chart and of the small ones at its side
BELOW = (560.0, 560.0)  # of charts below each other, which have more room for turns

Points = Sequence[JudgedTurn]


def drawings(points: Points, seat: str) -> tuple[Drawing, ...]:
    """Seven sentiments, goal deviation and cooperation of a seat, over the turns of its points."""
    sentiment = [
        charts.Series(name, str(SENTIMENT_LABELS[name]), tuple(point.sentiment[name] for point in points))
        for name in SENTIMENTS
    ]
    deviation = charts.Series(f"side-{seat}", _("deviation"), tuple(point.goal_deviation for point in points))
    cooperation = charts.Series(f"side-{seat}", _("cooperation"), tuple(point.cooperation for point in points))
    large, small = BELOW if len(points) > MANY_TURNS else BESIDE
    low = charts.Size(width=small, height=76, right=12)
    return (
        _drawing(
            f"{seat}-sentiment",
            _named(seat, _("Sentiment (0 to 1)")),
            points,
            sentiment,
            charts.SHARE,
            charts.Size(large),
        ),
        _drawing(f"{seat}-deviation", _named(seat, _("Goal deviation (%)")), points, [deviation], charts.PERCENT, low),
        _drawing(
            f"{seat}-cooperation", _named(seat, _("Cooperation (−1 to 1)")), points, [cooperation], charts.BALANCE, low
        ),
    )


def _named(seat: str, title: str) -> str:
    return _("%(seat)s: %(title)s") % {"seat": seat_name(seat), "title": title}


def _drawing(
    name: str, title: str, points: Points, series: Sequence[charts.Series], scale: charts.Scale, size: charts.Size
) -> Drawing:
    chart = charts.chart([point.turn for point in points], series, scale, size)
    rows = (Row(band.turn, tuple(one.values[place] for one in series), band) for place, band in enumerate(chart.bands))
    return Drawing(name, title, chart, tuple(one.label for one in series), tuple(rows))
