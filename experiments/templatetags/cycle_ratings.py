"""Figures of setters, solvers and judges, with their intervals or with the reason why there are none."""

from collections.abc import Callable

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from experiments import figures
from experiments.templatetags.arena import MINUS, MISSING
from experiments.workflows.coding.pages.rated import Figure
from experiments.workflows.coding.pages.words import reason_words

register = template.Library()


def _points(value: float) -> str:
    return f"{value:.1f}"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", MINUS) if round(value, 2) else "0.00"


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)


FORMS: dict[str, Callable[[float], str]] = {
    "points": _points,
    "signed": _signed,
    "plain": _plain,
    "percent": figures.in_percent,
}


@register.simple_tag
def figure_of(found: Figure, form: str) -> SafeString:
    """A figure with its interval. form: points (one decimal), plain (two), signed (two, with its sign), percent."""
    if found.value is None:
        return format_html('<span class="muted small why">{}</span>', reason_words(found.reason))
    written = FORMS[form]
    value = written(found.value)
    if found.low is None or found.high is None:
        why = _("no interval: %(reason)s") % {"reason": reason_words(found.no_interval)} if found.no_interval else ""
        return format_html('<b>{}</b> <span class="muted small why">{}</span>', value, why)
    return format_html(
        '<b>{}</b> <span class="muted small">{}</span>', value, figures.span(written(found.low), written(found.high))
    )


@register.filter
def as_score(value: float | None) -> str:
    """A score from 0 to 10."""
    return MISSING if value is None else _points(value)


@register.filter
def change(value: float | None) -> str:
    """By how much a rating moved, to a tenth; nothing for who was not in the cycle."""
    if value is None:
        return MISSING
    return f"{value:+.1f}".replace("-", MINUS) if round(value, 1) else "±0"


register.filter(reason_words)
