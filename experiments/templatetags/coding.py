"""Words and pieces of the pages of coding contests."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.forms import BaseForm
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from experiments import fragments
from experiments.catalog.menu import askable_models
from experiments.forms import CHOICES, EFFORTS
from experiments.labels import seat_name
from experiments.models import Run
from experiments.templatetags.coding_words import tenth
from experiments.templatetags.setup import Group, Option, grouped_by_provider
from experiments.timeline import Entry
from experiments.workflows.coding.config import LEAST_CODERS, MOST_CODERS
from experiments.workflows.coding.pages import board, coders
from experiments.workflows.coding.pages.forms import LEAST_ROWS
from experiments.workflows.coding.pages.plan import is_in_turn
from experiments.workflows.coding.pages.slots import slot_of, vote_anchor

register = template.Library()

VOTE = '<td class="vote score-{}" id="{}" data-slot="{}" title="{}">{}</td>'
MISSING_VOTE = (
    '<td class="vote missing" id="{}" data-slot="{}" title="{}">'
    '<span aria-hidden="true">✗</span><span class="sr">{}</span></td>'
)


@dataclass(frozen=True, slots=True)
class CoderRow:
    """One row of the form. shown: its number as people count. error: what is wrong with it."""

    number: int | str
    shown: str
    model: str = ""
    temperature: Any = ""
    max_tokens: Any = ""
    reasoning_effort: str = ""
    error: str = ""

    @property
    def has_params(self) -> bool:
        return bool(self.error or self.temperature or self.max_tokens or self.reasoning_effort)


@dataclass(frozen=True, slots=True)
class CoderRows:
    """blank: what a script adds rows from."""

    rows: list[CoderRow]
    blank: CoderRow


# --- the form ---


@register.simple_tag
def coder_rows(form: BaseForm) -> CoderRows:
    """The models as they were chosen, with empty rows so that more can be chosen without a script."""
    errors = form.fields["coders"].row_errors if form.is_bound else {}  # type: ignore[attr-defined]  # a field of our own, which Django types as any field
    given = form["coders"].value() or []
    rows = [_coder_row(number, row, errors.get(number, "")) for number, row in enumerate(given)]
    blank = [CoderRow(number, str(number + 1)) for number in range(len(rows), max(len(rows) + 1, LEAST_ROWS))]
    return CoderRows([*rows, *blank][:MOST_CODERS], CoderRow("__NUMBER__", "__SHOWN__"))


@register.simple_tag
def coder_groups() -> list[Group]:
    """Every model that can take part, by provider, the simulated ones last."""
    offered = [model for model in askable_models() if not model.is_tool]
    return grouped_by_provider([Option(model.slug, model.label, False, model) for model in offered])


@register.simple_tag
def effort_choices() -> list[tuple[str, Any]]:
    return [("", _("the model's own")), *((effort, CHOICES[effort]) for effort in EFFORTS)]


@register.filter
def setters_words(form: BaseForm) -> str:
    """Who sets the problems, as the form is filled in."""
    coders, cycles = len(form["coders"].value() or ()), str(form["cycles"].value() or "")
    if coders < LEAST_CODERS or not cycles.isdecimal():
        return _("In turn where the cycles are a multiple of the models, otherwise drawn by the seed.")
    each, rest = divmod(int(cycles), coders)
    if not is_in_turn(str(form["setters"].value() or "auto"), int(cycles), coders):
        words = _("The seed draws a setter for each cycle. In turn comes out even with %(n)s cycles, or a multiple.")
        return words % {"n": coders}
    if rest:
        return _("In turn, but not evenly: that needs %(n)s cycles, or a multiple.") % {"n": coders}
    words = ngettext("In turn: every model sets once.", "In turn: every model sets %(n)s times.", each)
    return words % {"n": each}


def _coder_row(number: int, row: Mapping[str, Any], error: str) -> CoderRow:
    named = {name: row.get(name) or "" for name in ("temperature", "max_tokens", "reasoning_effort")}
    return CoderRow(number, str(number + 1), row["model"], **named, error=error)


# --- entries in their places ---


@register.simple_tag
def contest_entry(shown: Entry, run: Run, cast: Mapping[str, str], **words: Any) -> SafeString:
    """The fragment of an entry; first paint gives it words that a pushed one does without."""
    return mark_safe(fragments.render(shown, run.pk, run.experiment.workflow, run=run, cast=cast, **words))  # noqa: S308 - a rendered template


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
