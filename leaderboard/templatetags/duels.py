"""Words and figures of battles, votes and agreement."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from experiments.models import Battle, Contestant
from experiments.runs.figures import elo, span
from experiments.templatetags.arena import MISSING, signed
from experiments.workflows.battles.campaign.voiding import WITH_RUN
from leaderboard.boards.titles import judge_words
from leaderboard.ratings import Undefined
from leaderboard.ratings.statistics import Interval, Share
from leaderboard.ratings.values import Reason
from leaderboard.votes.agreement import AGREEMENT_REASONS

register = template.Library()

CHART_WIDTH, CHART_LEFT = 240.0, 6.0  # SVG units; kappa from -1 to 1 over the width


@register.simple_tag
def contestant_options(contestants: Iterable[Contestant], chosen: str) -> SafeString:
    """The options of a list of names; as one piece, since a template takes its time for each of some hundreds."""
    form = '<option value="{}"{}>{}</option>'
    marks = {True: mark_safe(" selected"), False: ""}
    return format_html_join("", form, ((one.name, marks[one.name == chosen], str(one)) for one in contestants))


@register.filter
def why_void(battle: Battle) -> str:
    return gettext(WITH_RUN) if battle.void_reason == WITH_RUN else battle.void_reason


@register.filter
def percent(value: Any) -> str:
    """A share of 1 in per cent, to a tenth."""
    return MISSING if value is None else f"{100 * float(value):.1f} %"


@register.filter
def percents(share: Share) -> str:
    """The ends of a share's interval."""
    if share.interval is None:
        return MISSING
    low, high = share.interval
    return f"{span(f'{100 * low:.0f}', f'{100 * high:.0f}')}\N{NO-BREAK SPACE}%"


@register.filter
def kappa_bounds(interval: Interval) -> str:
    """An interval between -1 and 1."""
    return span(signed(interval.low), signed(interval.high))


@register.filter
def bias_bounds(bias: Any) -> str:
    """The interval of what being shown first is worth, in Elo."""
    return span(elo(bias.lower), elo(bias.upper))


@register.filter
def is_defined(value: Any) -> bool:
    return not isinstance(value, Undefined)


@register.filter
def along(value: float) -> float:
    """Where a value from -1 to 1 lies in a chart."""
    return round(CHART_LEFT + (value + 1) / 2 * (CHART_WIDTH - 2 * CHART_LEFT), 2)


@register.filter
def breadth(interval: Interval) -> float:
    """How wide an interval is in a chart."""
    return round(max(along(interval.high) - along(interval.low), 1.0), 2)


@register.filter
def why(value: Undefined) -> Any:
    """Why there is no figure of agreement."""
    return AGREEMENT_REASONS.get(value.reason.value, value.reason.sentence)


@register.filter
def why_length(value: Undefined) -> Any:
    """Why there is no effect of length."""
    if value.reason == Reason.CONSTANT:
        return gettext("the lengths are not known, or do not differ")
    return why(value)


register.filter("judge", judge_words)
