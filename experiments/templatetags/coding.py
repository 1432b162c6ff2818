"""Words and pieces of the pages of coding contests."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from experiments.labels import seat_name
from experiments.templatetags.coding_words import tenth
from experiments.timeline import Entry
from experiments.workflows.coding.pages import board, coders
from experiments.workflows.coding.pages.slots import slot_of, vote_anchor

register = template.Library()

VOTE = '<td class="vote score-{}" id="{}" data-slot="{}" title="{}">{}</td>'
MISSING_VOTE = (
    '<td class="vote missing" id="{}" data-slot="{}" title="{}">'
    '<span aria-hidden="true">✗</span><span class="sr">{}</span></td>'
)


# --- entries in their places ---


@register.simple_tag
def within(slots: Mapping[str, list[Entry]] | None, name: str, *parts: Any) -> list[Entry]:
    """What stands in a slot at first paint; nothing in a fragment that was pushed."""
    return (slots or {}).get("-".join([name, *map(str, parts)]), [])


@register.simple_tag
def contest_place(type_: str, data: Mapping[str, Any]) -> str:
    return slot_of(type_, data)


@register.simple_tag
def contest_matrix(
    slots: Mapping[str, list[Entry]] | None, begun: Mapping[str, Any], cast: Mapping[str, str]
) -> board.Matrix:
    return board.matrix(dict(slots or {}), begun, cast)


@register.simple_tag
def contest_phases(slots: Mapping[str, list[Entry]] | None, begun: Mapping[str, Any]) -> list[board.Phase]:
    return board.phases(dict(slots or {}), begun)


@register.simple_tag
def check_places(
    slots: Mapping[str, list[Entry]] | None, turn: int, version: str = ""
) -> list[tuple[str, list[Entry]]]:
    """The place of each check of a problem, or of its second version ("repair-"), with what stands there."""
    names = [f"{version}{name}" for name in board.CHECKS]
    return [(name, (slots or {}).get(f"check-{turn}-{name}", [])) for name in names]


@register.simple_tag
def vote_cell(data: Mapping[str, Any], cast: Mapping[str, str] | None = None) -> SafeString:
    """The cell of a vote. Hundreds stand on a page, so that they are no templates."""
    judgment, place = data["judgment"], vote_anchor(data)
    called = coders.names(cast or {})
    who = [called.get(judgment[name]) or str(seat_name(judgment[name])) for name in ("judge_seat", "subject")]
    if judgment["scores"] is None:
        words = _("%(judge)s gave %(solver)s no vote: %(reason)s") % {
            "judge": who[0],
            "solver": who[1],
            "reason": judgment["unscored_reason"],
        }
        return format_html(MISSING_VOTE, place, place, words, _("no vote"))
    overall = judgment["scores"]["overall"]
    words = _("%(judge)s on %(solver)s") % {"judge": who[0], "solver": who[1]}
    return format_html(VOTE, min(9, int(overall)), place, place, words, tenth(overall))
