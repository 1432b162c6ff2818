"""Words and parts of the debate's pages."""

from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from experiments import fragments
from experiments.labels import seat_name
from experiments.lineage import Lineage
from experiments.models import Run
from experiments.timeline import Entry
from experiments.workflows.debate.config import DEBATERS, POOL
from experiments.workflows.debate.pages.board import Board, Source, board, place_of, source
from experiments.workflows.debate.pages.versions import Version, versions

register = template.Library()


@register.simple_tag
def debate_board(run: Run, entries: list[Entry]) -> Board:
    return board(run, entries)


@register.simple_tag
def debate_entry(shown: Entry, run: Run, shown_board: Board) -> SafeString:
    """The fragment of an entry, in which the models have their names, and the draft is what was being written."""
    words = {"names": shown_board.names, "draft": shown_board.draft}
    return mark_safe(fragments.render(shown, run.pk, run.experiment.workflow, **words))  # noqa: S308 - a rendered template


@register.simple_tag
def debate_versions(run: Run, lineage: Lineage | None) -> list[Version]:
    return versions(run, lineage)


@register.simple_tag
def debate_place(type_: str, data: dict[str, Any]) -> str:
    """The place of an event on the page."""
    return place_of(type_, data)


@register.simple_tag
def debate_source(reference: str, names: dict[str, str] | None = None) -> Source | None:
    """The point that a piece of advice names."""
    return source(reference, names)


@register.filter
def speaker(seat: str) -> Any:
    """How a seat is called at the head of what it says."""
    return SPEAKERS.get(seat) or seat_name(seat)


@register.filter
def is_debater(seat: str) -> bool:
    return seat in DEBATERS


@register.filter
def is_pool(seat: str) -> bool:
    return seat in POOL


SPEAKERS = {
    "A": _("Solution"),
    "B": _("Sceptic"),
    "C": _("Feasibility"),
    "refiner": _("Refiner"),
    "summarizer": _("Summarizer"),
}
