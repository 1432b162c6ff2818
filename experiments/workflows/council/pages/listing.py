"""The councils that somebody has asked: found by title and by every question."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from experiments.labels import short_name
from experiments.search.runs import said_or_set_up
from experiments.search.sought import mark
from experiments.workflows.base.surface import Column, RunList


def _search(text: str) -> Q:
    return said_or_set_up(text, mark("workflow", "council"), said_by=mark("seat", "person"))


def _sign(seat: str, label: str) -> tuple[str, str] | None:
    return (seat.rpartition("-")[2], short_name(label)) if seat.startswith("member-") else None


COUNCILS = RunList(
    name="councils",
    title=_("Your councils"),
    find=_("Find councils"),
    searched=_("Title or question"),
    run=_("Council"),
    begun=_("Asked"),
    none=_("You have asked no council yet. The demonstration models need no key."),
    no_fit=_("No council fits."),
    show_all=_("Show all councils"),
    search=_search,
    sign=_sign,
    columns=(Column(_("Questions")),),
)
