"""How ratings, their intervals and shares are written: one way for pages, files and reports."""

from typing import Any, Protocol

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MISSING = "–"
MINUS = "−"
REASONS = {
    "undefeated": gettext_lazy("undefeated"),
    "winless": gettext_lazy("lost every battle"),
    "above": gettext_lazy("never lost to a rated contestant"),
    "below": gettext_lazy("never won against a rated contestant"),
    "unlinked": gettext_lazy("wins and losses do not link it with the rated contestants"),
    "no_battles": gettext_lazy("no battle that counts"),
    "few_cycles": gettext_lazy("one cycle is not enough: two or more are needed"),
    "no_spread": gettext_lazy("all comparisons had the same result, so there is no interval"),
    "few_battles": gettext_lazy("not enough battles"),
    "few_samples": gettext_lazy("too few prompts: the rating could be off by more than 400 points"),
}


class Placed(Protocol):
    """An interval of ranks, None for who has no rank."""

    @property
    def best(self) -> int | None: ...
    @property
    def worst(self) -> int | None: ...


class Ranked(Placed, Protocol):
    """A contestant on a board. rating None with a rank: it won or lost everything, and lower or upper is its bound."""

    @property
    def name(self) -> str: ...
    @property
    def component(self) -> int: ...
    @property
    def rating(self) -> float | None: ...
    @property
    def lower(self) -> float | None: ...
    @property
    def upper(self) -> float | None: ...
    @property
    def reason(self) -> str: ...
    @property
    def rank(self) -> int | None: ...


def sequence(row: Ranked) -> tuple[bool, int, int, float]:
    """What rows are sorted by: within a component by rank, equals by rating or bound; those without a rank are last."""
    height = next((value for value in (row.rating, row.lower, row.upper) if value is not None), 0.0)
    return row.rank is None, row.component, row.rank or 0, -height


def rank_range(row: Placed) -> str:
    """1, or 1–3 where the rank cannot be told more closely."""
    if row.best is None:
        return MISSING
    return str(row.best) if row.best == row.worst else f"{row.best}–{row.worst}"


def rating_or_bound(row: Ranked) -> str:
    """1187; > 1042 of a contestant that won every battle, < 870 of one that lost every battle."""
    if row.rating is not None:
        return elo(row.rating)
    if row.lower is not None:
        return f"> {elo(row.lower)}"
    return MISSING if row.upper is None else f"< {elo(row.upper)}"


def elo(value: float | None) -> str:
    """A rating in whole points."""
    return MISSING if value is None else f"{value:.0f}".replace("-", MINUS)


def span(low: str, high: str) -> str:
    """An interval in words, of ends that are written already."""
    return _("%(low)s to %(high)s") % {"low": low, "high": high}


def bounds(row: Ranked) -> str:
    """The interval of a rating, in which an end that is None has no bound; without a rating, the reason."""
    if row.rating is None:
        return str(reason_words(row.reason))
    if row.lower is None and row.upper is None:
        return _("no bound")
    return span(*(_("no bound") if end is None else elo(end) for end in (row.lower, row.upper)))


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
