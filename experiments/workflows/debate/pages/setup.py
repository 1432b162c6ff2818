"""What the set-up page of a debate shows beside its form: how long answers may be, and the debates there have been."""

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest

from experiments import progress
from experiments.forms import SetupForm
from experiments.models import Run
from experiments.paging import Page, page_of
from experiments.search.runs import said_or_set_up
from experiments.search.sought import mark
from experiments.workflows.base.surface import Asked
from experiments.workflows.debate.config import POOL

RUNS_PER_PAGE = 20
SEARCHED = ("request", "final_prompt")
ROLES = ("refiner", "debater", "summarizer")


@dataclass(frozen=True, slots=True)
class History:
    """The debates of a person, newest first, as far as they fit what is searched for."""

    page: Page
    items: list[progress.Progress]
    search: str
    state: str


def context(request: HttpRequest) -> dict[str, object]:
    """token_limits: the most tokens that an answer of each role may have, as the server has set it."""
    limits = {role: min(settings.ROLE_TOKENS[role], settings.ROLE_TOKENS_CAP) for role in ROLES}
    return {"token_limits": limits, "history": _history(request), "states": Run.State.choices}


def asked(form: SetupForm, asked: Asked) -> Asked:
    """The pool is seated from its first place on, whichever of its fields were filled in."""
    seats, refine = asked["cast"], form.cleaned_data["refine"]
    kept = {seat: one for seat, one in seats.items() if seat not in POOL and (seat != "refiner" or refine)}
    pool = zip(POOL, (seats[seat] for seat in POOL if seat in seats), strict=False)
    return {**asked, "cast": kept | dict(pool)}


def _history(request: HttpRequest) -> History:
    search, state = request.GET.get("search", "").strip(), request.GET.get("state", "")
    rows = Run.objects.visible_to(request.user).filter(experiment__workflow="debate")
    if search:
        # of the request and the final prompt the messages hold what was really said
        said = Q(message__parsed__kind__in=SEARCHED)
        rows = rows.filter(said_or_set_up(search, mark("workflow", "debate"), said=said))
    if state in Run.State.values:
        rows = rows.filter(state=state)
    page = page_of(rows, request.GET, RUNS_PER_PAGE)
    shown = page.rows(Run.objects.with_totals().select_related("experiment"))
    items = [progress.of(run) for run in shown.prefetch_related("experiment__participants__model")]
    return History(page, items, search, state)
