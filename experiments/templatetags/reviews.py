"""Words and figures of the review pages."""

from typing import Any

from django import template

from experiments.models import ReviewRubric
from experiments.review import rubrics
from experiments.review.coefficients import Figure
from experiments.review.words import AGREEMENT_REASONS, LEVELS, rubric_word
from experiments.templatetags.arena import figure, signed
from leaderboard.ratings.values import Undefined

register = template.Library()
register.filter(rubric_word)


@register.filter
def rubric_title(row: ReviewRubric) -> str:
    return rubrics.title_of(row)


@register.filter
def rubric_description(row: ReviewRubric) -> str:
    return rubrics.description_of(row)


@register.filter
def level_word(level: str) -> Any:
    return LEVELS.get(level, level)


@register.filter
def coefficient(found: Figure) -> str:
    """+0.62, or empty where there is no number."""
    return "" if isinstance(found.value, Undefined) else str(signed(found.value))


@register.filter
def around(found: Figure) -> str:
    """Its interval as 0.41 to 0.78, or empty."""
    if isinstance(found.interval, Undefined) or isinstance(found.value, Undefined):
        return ""
    return f"{signed(found.interval.low)} … {signed(found.interval.high)}"


@register.filter
def why_not(found: Figure) -> Any:
    """Why there is no number; empty where there is one."""
    if isinstance(found.value, Undefined):
        reason = found.value.reason
        return AGREEMENT_REASONS.get(reason.value, reason.sentence)
    return ""


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else f"{figure(100 * share, 1)} %"


@register.filter
def flat_words(value: Any) -> str:
    """A filter's value in one line."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
