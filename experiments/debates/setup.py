"""Setting up a debate: what fills its form at first, what it may come to, and the debates there have been."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments import progress
from experiments.catalog.menu import askable_models, usual_cast
from experiments.debates.estimates import DebateEstimate, Plan, estimate, token_limit
from experiments.debates.forms import SPEAKING_SEATS, DebateForm, model_field
from experiments.estimates import Taken
from experiments.labels import seat_name
from experiments.library.shelf import flat
from experiments.models import Participant, ProviderModel, Run
from experiments.paging import Page, page_of
from experiments.search.runs import said_or_set_up
from experiments.search.sought import mark
from experiments.shelves.cloning import source

Values = dict[str, Any]
SEATING_ORDER = ("A", "B", "C", "summarizer", "refiner")  # who gets a model of their own when there are few
RUNS_PER_PAGE = 20
SEARCHED = ("request", "final_prompt")


@dataclass(frozen=True, slots=True)
class History:
    """The debates of a person, newest first, as far as they fit what is searched for."""

    page: Page
    items: list[progress.Progress]
    search: str
    state: str


def initial(request: HttpRequest) -> Values:
    """What the form shows at first: the models used last, or different ones; or what a debate was set up with that one
    may see (`?clone=`).
    """
    usual = {model_field(seat): slug for seat, slug in usual_cast(request.user, "debate", SEATING_ORDER).items()}
    wanted = request.GET.get("clone")
    if not wanted:
        return usual
    found = source(request.user, wanted, "debate")
    for lost in _not_carried_over(found.participants):
        messages.warning(request, lost)
    seats = {model_field(one.seat): one.model.slug for one in found.participants}
    return {**usual, **dict(flat(found.config)), **seats, "title": found.title}


def estimate_of(form: DebateForm) -> DebateEstimate:
    """Of whatever the form says now, finished or not."""
    return estimate(_plan(form))


def token_limits() -> dict[str, int]:
    return {role: token_limit(role) for role in ("refiner", "debater", "summarizer")}


def history(request: HttpRequest) -> History:
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


def _not_carried_over(participants: Sequence[Participant]) -> Iterator[str]:
    """What the form cannot show of a run's cast: it would be lost without a word."""
    askable = {model.slug for model in askable_models()}
    for one in participants:
        if one.model.slug not in askable:
            words = _("%(model)s is not available now: choose another model. It was: %(seat)s.")
            yield words % {"model": one.model.label, "seat": seat_name(one.seat)}


def _plan(form: DebateForm) -> Plan:
    def said(name: str) -> Any:
        return form[name].value()

    refine, is_automatic = bool(said("refine")), said("mode") == "automatic"
    asked = [seat for seat in SPEAKING_SEATS if refine or seat != "refiner"]
    rounds = 2 if str(said("rounds")) == "2" else 1
    return Plan(
        refine=refine,
        rounds=(rounds, rounds) if is_automatic else (1, 2),
        request=len(str(said("prompt") or "")),
        addendum=len(str(said("addendum") or "")) if is_automatic else 0,
        seats=_taken({seat: str(said(model_field(seat)) or "") for seat in asked}),
    )


def _taken(slugs: Mapping[str, str]) -> dict[str, Taken]:
    """The seats that will be asked, each with its price today."""
    models = {model.slug: model for model in ProviderModel.objects.available().filter(slug__in=slugs.values())}
    seats = {}
    for seat, slug in slugs.items():
        model = models.get(slug)
        price = model.price_at(timezone.now()) if model else None
        seats[seat] = Taken(model.label if model else str(seat_name(seat)), price.value if price else None)
    return seats
