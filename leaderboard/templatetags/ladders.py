"""Figures and pictures of the leaderboard's pages."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from experiments.runs import figures
from experiments.workflows.battles.campaign.voiding import may_void
from leaderboard.boards import listing
from leaderboard.boards.standings import Row
from leaderboard.boards.tables import Cell, MatrixLine
from leaderboard.boards.titles import ladder_title
from leaderboard.models import RatingPoint
from leaderboard.pages import charts
from leaderboard.pages.coding import Drawn

register = template.Library()

MISSING, MINUS = figures.MISSING, figures.MINUS
register.filter(figures.elo)
register.filter(figures.in_percent)
register.filter(figures.bounds)
register.filter(figures.rank_range)
register.filter(figures.rating_or_bound)
register.filter(ladder_title)
register.simple_tag(may_void, name="leaves_out")
register.simple_tag(charts.axis_of)


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


@register.simple_tag
def interval_bar(row: Row, axis: charts.Axis | None) -> SafeString:
    """A rating with its interval on the ladder's scale, or an arrow from a one-sided bound; figures stand beside it."""
    drawn = charts.bar(row, axis) if axis else None
    if axis is None or drawn is None:
        return SafeString("")
    middle = charts.HEIGHT / 2
    lines = ((_number(at), _number(charts.HEIGHT)) for at, _rating in axis.ticks)
    grid = format_html_join("", '<path class="axis" d="M{} 0V{}"/>', lines)
    places = [] if drawn.at is None else [(_number(drawn.at), _number(middle))]
    return format_html(
        '<svg class="interval" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">{grid}'
        '<path class="whisker" d="M{low} {y}H{high}{low_end}{high_end}"/>{dot}</svg>',
        w=_number(charts.WIDTH), h=_number(charts.HEIGHT), grid=grid, low=_number(drawn.low),
        high=_number(drawn.high), y=_number(middle), low_end=_end(row, drawn.low, row.lower, 1, middle),
        high_end=_end(row, drawn.high, row.upper, -1, middle),
        dot=format_html_join("", '<circle cx="{}" cy="{}" r="3.5"/>', places),
    )  # fmt: skip


def _end(row: Row, at: float, bound: float | None, inwards: int, middle: float) -> SafeString:
    """A bar across, or the head of an arrow where a contestant without a rating has no bound."""
    if row.rating is None and bound is None:
        return SafeString(f"M{at + 5 * inwards:g} {middle - 4:g}L{at:g} {middle:g}l{5 * inwards} 4")
    return SafeString(f"M{at:g} {middle - 4:g}v8")


@register.simple_tag
def axis_labels(axis: charts.Axis) -> SafeString:
    """The ratings at the lines of the bars below."""
    words = format_html_join(
        "", '<text x="{}" y="12" text-anchor="middle">{}</text>', ((f"{at:g}", value) for at, value in axis.ticks)
    )
    return format_html(
        '<svg class="interval" viewBox="0 0 {0} 18" width="{0}" height="18" aria-hidden="true">{1}</svg>',
        f"{charts.WIDTH:g}", words,
    )  # fmt: skip


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


def _number(value: float) -> Any:
    """A coordinate as SVG writes it."""
    return SafeString(f"{value:g}")


@register.filter
def beside(values: Sequence[Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    """Each value with what it is of."""
    return list(zip(names, values, strict=True))


@register.filter
def after_cycle(cycle: Drawn, labels: Sequence[str]) -> list[tuple[str, float | None, float | None]]:
    """Each model's rating after a cycle, and by how much it moved."""
    return list(zip(labels, cycle.values, cycle.changes, strict=True))
