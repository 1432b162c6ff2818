"""Words and pieces of the pages of councils, and the count of ballots: places, strips, who is first, who agrees."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models.labels import seat_name
from experiments.runs.markdown import to_html
from experiments.workflows.council.pages.pages import Member, members, names
from experiments.workflows.council.pages.rankings import (
    NOBODY_RANKED,
    OWN_NOT_SHOWN,
    MethodOrder,
    Ranking,
    SaidBy,
    Standing,
)
from experiments.workflows.council.reviews import words

register = template.Library()

STRIP_WIDTH, STRIP_HEIGHT, STRIP_EDGE = 132, 16, 6


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


@register.simple_tag
def council_members(cast: Mapping[str, str]) -> list[Member]:
    return members(cast)


@register.filter
def model_of(seat: str, cast: Mapping[str, str] | None) -> str:
    """The short name of the model in a seat; the seat's own name where nobody is known to sit there."""
    return names(cast or {}).get(seat) or str(seat_name(seat))


@register.filter
def seat_number(seat: str) -> str:
    """2 for "member-2"; "" for the others."""
    return seat.rpartition("-")[2] if seat.startswith("member-") else ""


@register.filter
def review_text(message: Mapping[str, Any]) -> str:
    """What a reviewer wrote; of a structured answer, its words."""
    return words(str(message["raw_text"]))


@register.simple_tag
def review_prose(message: Mapping[str, Any], ballot: Mapping[str, Any], cast: Mapping[str, str]) -> SafeString:
    """A review with the models' names, in bold, in place of the labels that the reviewer was shown."""
    shown = {label: model_of(seat, cast) for label, seat in ballot["labels"].items()}
    return mark_safe(to_html(review_text(message), shown))  # noqa: S308 - sanitised by to_html


@register.filter
def standing_order(ballot: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The places of a ballot, as "1" or "2–3", each with its seats."""
    found, before = [], 0
    for group in ballot["order"] or []:
        found.append((place_of(before + 1, len(group)), group))
        before += len(group)
    return found


@register.filter
def unranked(ballot: Mapping[str, Any]) -> list[str]:
    """The seats that the reviewer was shown and did not rank."""
    ranked = {seat for group in ballot["order"] or [] for seat in group}
    return [seat for seat in ballot["labels"].values() if seat not in ranked]


@register.filter
def label_in(seat: str, ballot: Mapping[str, Any]) -> str:
    """The label under which the reviewer was shown a seat's answer."""
    return next((label for label, named in ballot["labels"].items() if named == seat), "")


@register.filter
def reading_label(reading: str) -> Any:
    return READINGS.get(reading, "")


@register.filter
def stands_in(model: str, cast: Mapping[str, str]) -> bool:
    """Whether somebody else than the chair concluded."""
    return bool(model and cast.get("chair") and model != cast["chair"])


@register.simple_tag
def ranking_in(rankings: Mapping[str, Ranking] | None, anchor: str) -> Ranking | None:
    return (rankings or {}).get(anchor)


@register.filter
def figure_name(name: str) -> Any:
    """What a row of the figures is called: a purpose with who does it, or a seat."""
    return FIGURES.get(name) or seat_name(name)


@register.filter
def abstention(reason: str) -> str:
    """Why a reviewer abstained, in the reader's language where we know the sentence."""
    return _(reason) if reason else ""


# --- the count ---


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


READINGS = {
    "json": gettext_lazy("read from a structured answer"),
    "text": gettext_lazy("read from the text under the last “FINAL RANKING”"),
    "repaired": gettext_lazy("read from a second call that asked for the ranking alone"),
}

FIGURES = {
    "reply": gettext_lazy("Answers, by the members"),
    "review": gettext_lazy("Reviews, by the members"),
    "repair": gettext_lazy("Repaired ballots, by the members"),
    "conclusion": gettext_lazy("Conclusion, by the chair"),
    "title": gettext_lazy("Title"),
}
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
    NOBODY_RANKED: gettext_lazy("no reviewer ranked it"),
    "no_comparisons": gettext_lazy("no ballot compares two answers"),
    "too_many_candidates": gettext_lazy("exact orders are computed for up to 8 answers only"),
    "incomplete_ballots": gettext_lazy("the reviewers did not all rank the same answers"),
    "one_ballot": gettext_lazy("agreement needs at least two ballots"),
    "one_candidate": gettext_lazy("an order needs at least two answers"),
    "constant": gettext_lazy("all values are the same, so agreement cannot be distinguished from chance"),
    "nothing_paired": gettext_lazy("no answer was ranked by two reviewers"),
    "undefeated": gettext_lazy("preferred on every ballot, so no number is high enough"),
    "winless": gettext_lazy("preferred on no ballot, so no number is low enough"),
    "above": gettext_lazy("never lost to the others"),
    "below": gettext_lazy("never won against the others"),
    "unlinked": gettext_lazy("wins and losses do not link it to the others"),
    "no_battles": gettext_lazy("never compared"),
}
