"""The debates that there have been, as far as somebody may see them."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from experiments.search.runs import said_or_set_up
from experiments.search.sought import mark
from experiments.workflows.base.surface import Column, RunList
from experiments.workflows.debate.config import DEBATERS

SEARCHED = ("request", "final_prompt")


def _search(text: str) -> Q:
    """Of the request and the final prompt the messages hold what was really said."""
    return said_or_set_up(text, mark("workflow", "debate"), said=Q(message__parsed__kind__in=SEARCHED))


DEBATES = RunList(
    name="debates",
    title=_("Your debates"),
    find=_("Find debates"),
    searched=_("Title, request or final prompt"),
    run=_("Debate"),
    begun=_("Begun"),
    none=_("You have held no debate yet. The demonstration models need no key."),
    no_fit=_("No debate fits."),
    show_all=_("Show all debates"),
    search=_search,
    sign=lambda seat, label: (seat, label) if seat in DEBATERS else None,
    columns=(Column(_("Rounds")),),
    counted=lambda n: ngettext("%(n)s debate", "%(n)s debates", n) % {"n": n},
    size=20,
    is_own=False,
    has_states=True,
    has_again=True,
)
