"""Figures of instruments that are held to people, on cards and wherever a scan's rates are shown.

{% corrected_rates experiment as corrected %}
{% include "review/_corrected.html" with one=corrected|of_figure:figure %}
"""

from typing import Any, Protocol

from django import template
from django.http import Http404
from django.template import Context
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from experiments.models import Experiment, Instrument
from experiments.review.instruments import card, services
from experiments.review.instruments.correction import Corrected
from experiments.review.instruments.labels import readable_queues
from experiments.runs.figures import in_percent, span
from experiments.templatetags.arena import figure
from experiments.templatetags.reviews import AGREEMENT_REASONS, rubric_word
from experiments.workflows.base.instruments import NO, YES, Dimension
from leaderboard.ratings.prevalence import Rate
from leaderboard.ratings.values import Undefined

register = template.Library()

WORDS = {YES: _("yes"), NO: _("no")}
REASONS = {
    **AGREEMENT_REASONS,
    "unlabeled": _("labels are missing"),
    "no_spread": _("no variation"),
    "useless_judge": _("no better than chance"),
}

ByFigure = dict[tuple[str, str, str], Corrected]


class Figure(Protocol):
    """A rate or a mean as pages of scans have it. choice: the title of a category."""

    @property
    def dimension(self) -> Dimension: ...
    @property
    def choice(self) -> str: ...
    @property
    def judge(self) -> str: ...


@register.simple_tag(takes_context=True)
def corrected_rates(context: Context, scan: Experiment) -> ByFigure:
    """The rates of a scan as labels correct them, as far as whoever is signed in may know the labels."""
    try:
        version = services.version_of(scan, context["user"])
    except Http404:
        return {}
    rates = next((one.rates for one in card.of(version, context["user"]).scans if one.scan == scan.pk), ())
    return {(one.figure.quantity.dimension.name, one.figure.choice, one.judge): one for one in rates if one.labels}


@register.simple_tag(takes_context=True)
def agreement_line(context: Context, instrument: Instrument) -> str:
    """How far judges of the newest version agree with people; empty without labels of people on what they judged."""
    version, user = instrument.newest, context["user"]
    if not readable_queues(version, user):
        return ""
    found = card.of(version, user)
    shares = [
        judge.agreement.percent.value
        for quantity in found.quantities
        for judge in quantity.judges
        if not isinstance(judge.agreement.percent.value, Undefined)
    ]
    if not shares:
        return ""
    ends = sorted({in_percent(share) for share in (min(shares), max(shares))}, key=len)
    said = {"share": ends[0] if len(ends) == 1 else span(in_percent(min(shares)), in_percent(max(shares)))}
    return gettext("%(share)s of its values agree with people") % said


@register.filter
def of_figure(rates: ByFigure, one: Figure) -> Corrected | None:
    return rates.get((one.dimension.name, one.choice, one.judge))


@register.filter
def rate_value(rate: Rate, is_mean: bool) -> str:
    """43 %, or the number of a mean; empty where there is none."""
    if isinstance(rate.value, Undefined):
        return ""
    return figure(rate.value) if is_mean else f"{figure(100 * rate.value, 1)} %"


@register.filter
def rate_around(rate: Rate, is_mean: bool) -> str:
    """Its interval as 31 to 56 %, or empty."""
    if isinstance(rate.interval, Undefined):
        return ""
    if is_mean:
        return span(*map(figure, rate.interval))
    return f"{span(*(figure(100 * end, 1) for end in rate.interval))} %"


@register.filter
def why_no_rate(rate: Rate) -> str:
    """Why there is no number; empty where there is one."""
    if isinstance(rate.value, Undefined):
        reason = rate.value.reason
        return gettext(REASONS[reason.value]) if reason.value in REASONS else reason.sentence
    return ""


@register.filter
def value_in_words(word: str) -> Any:
    """Yes and no, and words of built-in instruments, in the reader's language."""
    return gettext(WORDS[word]) if word in WORDS else rubric_word(word)


@register.filter
def confusion(judge: card.WithPeople, one: card.OnQuantity) -> list[tuple[str, tuple[int, ...]]]:
    """The rows of the table of labels, each with the judge's value."""
    return list(zip(one.words, judge.agreement.table, strict=True))
