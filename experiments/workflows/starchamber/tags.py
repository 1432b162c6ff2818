"""Words and figures of StarChamber's pages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django import template
from django.utils.translation import gettext as _

from experiments.models.labels import SENTIMENT_LABELS
from experiments.templatetags.arena import MISSING, figure, signed
from experiments.workflows.base.judge import SENTIMENTS

register = template.Library()


@dataclass(frozen=True, slots=True)
class Average:
    """One score over a talk, in words: the latest that was given, the mean, and over how many turns."""

    label: str
    latest_text: str
    average_text: str
    turns: int


@register.filter
def sentiments_of(scores: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The seven sentiments in their order; None for one that was not given."""
    return [(name, scores.get(name)) for name in SENTIMENTS]


@register.filter
def averaged(turns: Sequence[Mapping[str, Any]]) -> list[Average]:
    """Every score of a talk that was given at least once."""
    rows = [
        _average(_("goal deviation"), [turn["goal_deviation"] for turn in turns], _percent),
        _average(_("cooperation"), [turn["cooperation"] for turn in turns], signed),
        *(_average(str(SENTIMENT_LABELS[n]), [turn["sentiment"].get(n) for turn in turns], figure) for n in SENTIMENTS),
    ]
    return [row for row in rows if row.turns]


@register.filter
def noted(turns: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The turns about which the judge wrote something, the latest first."""
    return [turn for turn in turns if turn["rationale"] or turn["unscored_reason"]][::-1]


def _average(label: str, values: Sequence[float | None], words: Any) -> Average:
    given = [value for value in values if value is not None]
    if not given:
        return Average(label, MISSING, MISSING, 0)
    return Average(label, words(given[-1]), words(fmean(given)), len(given))


def _percent(value: float) -> str:
    return f"{figure(value, 1)} %"
