"""How ratings, their intervals and shares are written: one way for the pages of campaigns and of ladders."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MISSING = "–"
MINUS = "−"
REASONS = {
    "undefeated": gettext_lazy("won every battle, so no rating is high enough"),
    "winless": gettext_lazy("lost every battle, so no rating is low enough"),
    "above": gettext_lazy("stands above the rated contestants without ever having lost towards them"),
    "below": gettext_lazy("stands below the rated contestants without ever having won towards them"),
    "unlinked": gettext_lazy("wins and losses do not link it with the rated contestants"),
    "no_battles": gettext_lazy("has not been in any battle that counts"),
    "few_cycles": gettext_lazy("one cycle says nothing of the next: two or more are needed"),
    "no_spread": gettext_lazy("every comparison came out alike, so nothing says how far a rating could vary"),
    "few_battles": gettext_lazy("too few battles: a rating could be wrong by more than 400 points"),
}


def elo(value: float | None) -> str:
    """A rating in whole points."""
    return MISSING if value is None else f"{value:.0f}".replace("-", MINUS)


def span(low: str, high: str) -> str:
    """An interval in words, of ends that are written already."""
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


def bounds(rating: float | None, lower: float | None, upper: float | None) -> str:
    """The interval of a rating; an end that is None has no bound."""
    if rating is None:
        return MISSING
    if lower is None and upper is None:
        return _("no bound")
    return span(*(_("no bound") if end is None else elo(end) for end in (lower, upper)))


def in_percent(value: float | None) -> str:
    """A share: 51 %, <1 %, >99 % where it is neither none nor all."""
    if value is None:
        return MISSING
    if 0 < value < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 < value < 1 else f"{100 * value:.0f} %"


def reason_words(code: str) -> Any:
    """Why there is no rating."""
    return REASONS.get(code, code)
