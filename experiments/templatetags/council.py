"""Words and pieces of the council's pages."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.labels import seat_name
from experiments.markdown import to_html
from experiments.templatetags.council_ranking import place_of
from experiments.timeline import Entry
from experiments.workflows.council.pages import cast as council_cast
from experiments.workflows.council.pages.rankings import Ranking
from experiments.workflows.council.pages.slots import slot_of
from experiments.workflows.council.reviews import words

register = template.Library()


@register.simple_tag
def in_slot(slots: Mapping[str, list[Entry]] | None, name: str, turn: int, seat: str = "") -> list[Entry]:
    """What stands in a slot at first paint; nothing in a fragment that was pushed."""
    return (slots or {}).get("-".join(filter(None, (name, str(turn), seat))), [])


@register.simple_tag
def place(type_: str, data: Mapping[str, Any]) -> str:
    return slot_of(type_, data)


@register.simple_tag
def council_members(cast: Mapping[str, str]) -> list[council_cast.Member]:
    return council_cast.members(cast)


@register.filter
def model_of(seat: str, cast: Mapping[str, str] | None) -> str:
    """The short name of the model in a seat; the seat's own name where nobody is known to sit there."""
    return council_cast.names(cast or {}).get(seat) or str(seat_name(seat))


@register.filter
def short_model(label: str) -> str:
    return council_cast.short_name(label)


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
