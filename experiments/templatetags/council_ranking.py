"""The count of a council's ballots: places, strips, and sentences about who is first and who agrees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.workflows.council.pages.rankings import (
    NOBODY_RANKED,
    OWN_NOT_SHOWN,
    MethodOrder,
    Ranking,
    SaidBy,
    Standing,
)

register = template.Library()

STRIP_WIDTH, STRIP_HEIGHT, STRIP_EDGE = 132, 16, 6
ORDERED = ("mean_rank", "borda", "copeland", "schulze", "kemeny", "bradley_terry")


@dataclass(frozen=True, slots=True)
class Strip:
    """The places that the methods give one answer, first on the left. low and high: the outermost ones."""

    width: int
    height: int
    dots: tuple[tuple[float, int], ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One answer's row of the count. places: by method, as "1" or "2–3"; "" where a method has no order."""

    standing: Standing
    places: Mapping[str, str]
    strip: Strip | None
    is_best: bool


def place_of(first: int, size: int) -> str:
    """The places that a group of equals fills."""
    return str(first) if size == 1 else f"{first}–{first + size - 1}"


@register.simple_tag
def ranking_lines(ranking: Ranking) -> list[Line]:
    """The best by Borda first; those that nobody ranked last."""
    ordered = {order.method: order for order in ranking.orders}
    lines = [_line(standing, ordered, ranking) for standing in ranking.standings]
    return sorted(lines, key=lambda line: -(-1.0 if line.standing.borda.value is None else line.standing.borda.value))


def _line(standing: Standing, ordered: Mapping[str, MethodOrder], ranking: Ranking) -> Line:
    found = {method: _found(order, standing.seat) for method, order in ordered.items()}
    places = {method: place_of(*place) if place else "" for method, place in found.items()}
    return Line(standing, places, _strip(list(found.values()), len(ranking.seats)), standing.seat in ranking.best)


def _found(order: MethodOrder, seat: str) -> tuple[int, int] | None:
    """The first place of the seat's group, and how many are in it."""
    before = 0
    for group in order.groups or ():
        if seat in group:
            return before + 1, len(group)
        before += len(group)
    return None


def _strip(places: Sequence[tuple[int, int] | None], seats: int) -> Strip | None:
    middles = sorted({first + (size - 1) / 2 for first, size in filter(None, places)})
    if not middles or seats < 2:
        return None
    step = (STRIP_WIDTH - 2 * STRIP_EDGE) / (seats - 1)
    dots = tuple((STRIP_EDGE + (place - 1) * step, STRIP_HEIGHT // 2) for place in middles)
    return Strip(STRIP_WIDTH, STRIP_HEIGHT, dots, dots[0][0], dots[-1][0])


@register.filter
def method_name(method: str) -> Any:
    return METHODS.get(method, method)


@register.filter
def method_names(methods: Iterable[str]) -> str:
    return _(", ").join(str(method_name(method)) for method in methods)


@register.filter
def why_undefined(reason: str) -> Any:
    """Why a number does not exist, in words."""
    return REASONS.get(reason, reason.replace("_", " "))


@register.filter
def missing_methods(ranking: Ranking) -> list[MethodOrder]:
    """The methods that found no order."""
    return [order for order in ranking.orders if order.groups is None]


@register.filter
def verdict(ranking: Ranking) -> str:
    """Which kind of sentence sums the methods up: "order", "winner", "split" or "" when none has an order."""
    if not ranking.on_order:
        return ""
    if ranking.agree_on_order:
        return "order"
    return "winner" if ranking.agree_on_winner else "split"


@register.filter
def first_group(camp: SaidBy) -> tuple[str, ...]:
    return camp.groups[0] if camp.groups else ()


@register.filter
def has_own(ranking: Ranking) -> bool:
    """Whether somebody ranked its own answer."""
    return any(standing.self_preference.value is not None for standing in ranking.standings)


METHODS = {
    "mean_rank": gettext_lazy("mean rank"),
    "borda": gettext_lazy("Borda"),
    "copeland": gettext_lazy("Copeland"),
    "schulze": gettext_lazy("Schulze"),
    "kemeny": gettext_lazy("Kemeny"),
    "bradley_terry": gettext_lazy("Bradley–Terry"),
}

REASONS = {
    OWN_NOT_SHOWN: gettext_lazy("it was not shown its own answer"),
    NOBODY_RANKED: gettext_lazy("nobody ranked it"),
    "no_comparisons": gettext_lazy("no ballot compares two answers"),
    "too_many_candidates": gettext_lazy("an exact order is sought for up to 8 answers only"),
    "incomplete_ballots": gettext_lazy("the reviewers did not all rank the same answers"),
    "one_ballot": gettext_lazy("agreement needs two ballots or more"),
    "one_candidate": gettext_lazy("an order needs two answers or more"),
    "constant": gettext_lazy("every value is the same, so agreement cannot be told from chance"),
    "nothing_paired": gettext_lazy("no answer was ranked by two reviewers"),
    "undefeated": gettext_lazy("preferred on every ballot, so no number is high enough"),
    "winless": gettext_lazy("preferred on no ballot, so no number is low enough"),
    "above": gettext_lazy("above the others without ever having lost to them"),
    "below": gettext_lazy("below the others without ever having won against them"),
    "unlinked": gettext_lazy("wins and losses do not link it with the others"),
    "no_battles": gettext_lazy("never compared"),
}
