"""Figures and pictures of the leaderboard's pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models.labels import workflow_name
from experiments.runs import figures
from experiments.workflows.battles.campaign.voiding import may_void
from leaderboard.boards import listing
from leaderboard.boards.combining import Combined
from leaderboard.boards.contamination import Unseen
from leaderboard.boards.periods import slice_words
from leaderboard.boards.standings import Row
from leaderboard.boards.style import Adjusted, StyleControl
from leaderboard.boards.tables import FURTHER, Cell, MatrixLine
from leaderboard.boards.titles import KINDS, ladder_title
from leaderboard.models import RatingPoint
from leaderboard.pages import charts
from leaderboard.pages.coding import Drawn
from leaderboard.ratings.values import Reason
from leaderboard.variants.register import Origin
from leaderboard.variants.views import ORIGINS

register = template.Library()

NO_EFFECT = {
    Reason.CONSTANT.value: gettext_lazy("does not differ"),
    Reason.CONFOUNDED.value: gettext_lazy("follows from the contestants or the features above"),
    Reason.SEPARATED.value: gettext_lazy("style, or the contestants, explain every battle"),
    Reason.NO_BATTLES.value: gettext_lazy("no battle between two texts is decided"),
    Reason.TOO_FEW_UNITS.value: gettext_lazy("there is one prompt only"),
}
NOT_UNSEEN = {
    Reason.SEPARATED.value: gettext_lazy("battles on them do not link the contestants enough"),
    Reason.NO_BATTLES.value: gettext_lazy("no battle was on a sample known to be unseen by both"),
}
NOT_COMBINED = {
    Reason.NOTHING_PAIRED.value: gettext_lazy("no vote is on outputs that a judge has compared, too"),
    Reason.SEPARATED.value: gettext_lazy("wins and losses do not link the contestants enough"),
    Reason.NO_BATTLES.value: gettext_lazy("people have decided no battle of this slice"),
}
FURTHER_RANKS = {
    "adjusted": gettext_lazy("Adjusted rank"),
    "combined": gettext_lazy("Combined rank"),
    "unseen": gettext_lazy("Rank, unseen samples"),
}
MISSING, MINUS = figures.MISSING, figures.MINUS
register.filter(figures.elo)
register.filter(figures.in_percent)
register.filter(figures.bounds)
register.filter(figures.rank_range)
register.filter(figures.rating_or_bound)
register.filter(ladder_title)
register.filter(slice_words)


@register.filter
def kind_words(kind: str) -> Any:
    """What a kind of board is called."""
    return KINDS.get(kind) or workflow_name(kind)


@register.filter
def origin_words(origin: Origin) -> Any:
    """A note on a value of the register; nothing where curators entered it, or where there is none."""
    return ORIGINS.get(origin, "")


register.simple_tag(may_void, name="leaves_out")


@register.filter
def moved(value: float | None) -> str:
    """A difference of ratings with its sign, to a tenth."""
    if value is None:
        return MISSING
    return f"{value:+.1f}".replace("-", MINUS) if round(value, 1) else "0.0"


@register.filter
def by_column(line: listing.Line, columns: Sequence[listing.Entry]) -> list[tuple[str, Row | None]]:
    """A contestant's rows with what the column of each is called."""
    names = [f"{one.dataset.name}, {one.judge}" if one.dataset else one.title for one in columns]
    return list(zip(names, line.rows, strict=True))


@register.filter
def estimate_bounds(found: Any) -> str:
    return figures.span(figures.elo(found.lower), figures.elo(found.upper)) if found else MISSING


@register.filter
def point_bounds(point: RatingPoint) -> str:
    """The interval of a rating of then; nothing where none was noted."""
    known = point.lower is not None and point.upper is not None
    return figures.span(figures.elo(point.lower), figures.elo(point.upper)) if known else ""


@register.filter
def adjusted_row(beside: StyleControl | Combined | Unseen, name: str) -> Adjusted:
    """A contestant's rating beside its plain one; an empty one where there is none."""
    return beside.row(name) or Adjusted(name)


@register.filter
def further_label(kind: str) -> Any:
    """What a column of ratings beside the plain ones is called."""
    return FURTHER[kind]


@register.filter
def further_rank(kind: str) -> Any:
    """What the column of its ranks is called; empty for a column that has none."""
    return FURTHER_RANKS.get(kind, "")


@register.filter
def why_no_effect(code: str) -> Any:
    """Why style has no effect that can be told, of one feature or of all."""
    return NO_EFFECT.get(code, figures.reason_words(code))


@register.filter
def why_not_combined(code: str) -> Any:
    """Why people and judges have no combined ratings."""
    return NOT_COMBINED.get(code, figures.reason_words(code))


@register.filter
def why_not_unseen(code: str) -> Any:
    """Why there are no ratings from unseen samples."""
    return NOT_UNSEEN.get(code, figures.reason_words(code))


register.simple_tag(charts.intervals, name="interval_chart")


@register.simple_tag
def interval_mark(mark: charts.Mark, axis: charts.Axis) -> SafeString:
    """A rating with its interval on the chart's scale, as wide as there is room; the figures stand beside it."""
    grid = format_html_join("", '<line class="axis" x1="{0}%" x2="{0}%" y1="0" y2="100%"/>', axis.ticks)
    ends = ((mark.low, mark.is_low_open, "M5 -4L0 0l5 4"), (mark.high, mark.is_high_open, "M-5 -4L0 0l-5 4"))
    tips = format_html_join(
        "",
        '<svg x="{}%" y="50%" overflow="visible"><path class="whisker" d="{}"/></svg>',
        ((at, arrow if is_open else "M0 -4v8") for at, is_open, arrow in ends),
    )
    dots = format_html_join("", '<circle cx="{}%" cy="50%" r="3.5"/>', [] if mark.at is None else [(mark.at,)])
    line = format_html('<line class="whisker" x1="{}%" x2="{}%" y1="50%" y2="50%"/>', mark.low, mark.high)
    return format_html('<svg class="interval" aria-hidden="true">{}{}{}{}</svg>', grid, line, tips, dots)


@register.simple_tag
def axis_labels(axis: charts.Axis) -> SafeString:
    """The ratings at the lines of the grid."""
    words = format_html_join("", '<text x="{}%" y="11" text-anchor="middle">{}</text>', axis.ticks)
    return format_html('<svg class="interval" aria-hidden="true">{}</svg>', words)


@register.simple_tag
def matrix_cells(line: MatrixLine) -> SafeString:
    """The cells of one row of the matrix, written at once: there may be forty thousand of them."""
    return format_html_join("", "{}", ((_cell(cell),) for cell in line.cells))


def _cell(cell: Cell | None) -> SafeString:
    if cell is None:
        return SafeString('<td class="unmet">–</td>')
    said = _("%(wins)s won, %(losses)s lost, %(ties)s tied") % {
        "wins": cell.wins, "losses": cell.losses, "ties": cell.ties,
    }  # fmt: skip
    if cell.both_bad:
        said += _(", %(n)s both bad") % {"n": cell.both_bad}
    return format_html(
        '<td class="shade-{}" title="{}">{}<small>{}</small></td>',
        cell.shade, said, f"{100 * cell.win_rate:.0f}", cell.battles,
    )  # fmt: skip


@register.filter
def why_unranked(row: Row) -> Any:
    return figures.reason_words(row.reason)


@register.filter
def of_column(explained: Mapping[str, Any], name: str) -> Any:
    """What a column means; nothing where its name says it."""
    return explained.get(name, "")


@register.simple_tag(takes_context=True)
def slice_link(context: template.Context, name: str, word: str = "") -> str:
    """The page as it is, of another slice."""
    query = context["request"].GET.copy()
    for one in (name, *(("since", "until") if name == "period" else ())):
        query.pop(one, None)
    if word:
        query[name] = word
    return f"?{query.urlencode()}"


@register.filter
def embed_height(chart: charts.Intervals) -> int:
    """How high a frame is in which all of the chart is seen."""
    return 170 + 30 * len(chart.marks)


@register.filter
def after_cycle(cycle: Drawn, labels: Sequence[str]) -> list[tuple[str, float | None, float | None]]:
    """Each model's rating after a cycle, and by how much it moved."""
    return list(zip(labels, cycle.values, cycle.changes, strict=True))
