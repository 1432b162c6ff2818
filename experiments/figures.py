"""How ratings, their intervals and shares are written: one way for the pages of campaigns and of ladders."""

from django.utils.translation import gettext as _

MISSING = "–"
MINUS = "−"


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
        return _("no interval: every battle was a tie")
    return span(*(_("no bound") if end is None else elo(end) for end in (lower, upper)))


def in_percent(value: float | None) -> str:
    """A share: 51 %, <1 %, >99 % where it is neither none nor all."""
    if value is None:
        return MISSING
    if 0 < value < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 < value < 1 else f"{100 * value:.0f} %"
