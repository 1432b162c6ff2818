"""Words and parts of the debate's pages."""

from typing import Any

from django import template

from experiments.models import Run
from experiments.models.labels import seat_name
from experiments.runs.lineage import Lineage
from experiments.workflows.debate.config import DEBATERS, POOL
from experiments.workflows.debate.pages.board import Source, Version, source, versions
from experiments.workflows.debate.surface import SPEAKERS

register = template.Library()


@register.simple_tag
def debate_versions(run: Run, lineage: Lineage | None) -> list[Version]:
    return versions(run, lineage)


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
