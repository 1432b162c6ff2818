"""What fills the form of a contest at first: the pool that was chosen last, or one of one's own runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from experiments.contests.forms import ContestForm, contest_form, every_model
from experiments.council_forms import models_offered
from experiments.council_setup import as_id
from experiments.library.shelf import flat
from experiments.models import Experiment, Participant, Run
from experiments.workflows.coding.config import CODERS, MOST_CODERS

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Values = dict[str, Any]

USUAL_CODERS = 4


def initial(request: HttpRequest) -> Values:
    """What the form shows at first. A run of `?clone=` that one may not see is not found."""
    if run_id := request.GET.get("clone"):
        return _of_run(request, _own_run(request.user, run_id))
    return {"coders": _usual(request.user)}


def with_everybody(request: HttpRequest) -> ContestForm:
    """The form with every model that can take part; those that were chosen keep their parameters and their place."""
    typed = _typed(request)
    chosen = {row["model"]: row for row in typed["coders"]}
    others = [row for row in every_model() if row["model"] not in chosen]
    if len(chosen) + len(others) < len(models_offered()):
        words = _("A contest has room for %(most)s models: some were left out.")
        messages.info(request, words % {"most": MOST_CODERS})
    return contest_form()(initial={**typed, "coders": [*chosen.values(), *others][:MOST_CODERS]})


def _typed(request: HttpRequest) -> Values:
    form = contest_form()(request.POST)
    return {name: form[name].value() for name in form.fields}


def _usual(user: "User | AnonymousUser") -> list[Values]:
    """The pool of the last contest, as far as its models are there; otherwise the first few models."""
    offered = [slug for slug, _label in models_offered()]
    last = Experiment.objects.owned_by(user).filter(workflow="coding").order_by("-created").first()
    if last:
        rows = _rows(last.participants.select_related("model"))
        if rows and all(row["model"] in offered for row in rows):
            return rows
    return [{"model": slug} for slug in offered[:USUAL_CODERS]]


def _own_run(user: "User | AnonymousUser", run_id: str) -> Run:
    wanted = as_id(run_id)
    if wanted is None:
        raise Http404
    runs = Run.objects.visible_to(user).filter(experiment__workflow="coding").select_related("experiment")
    return get_object_or_404(runs, pk=wanted)


def _of_run(request: HttpRequest, run: Run) -> Values:
    rows = _rows(run.experiment.participants.select_related("model"))
    offered = {slug for slug, _label in models_offered()}
    if lost := [row["model"] for row in rows if row["model"] not in offered]:
        words = _("Not available now: %(models)s. Choose other models in their place.")
        messages.warning(request, words % {"models": ", ".join(lost)})
    config: Mapping[str, Any] = dict(flat(run.config))
    settings = {name: config[name] for name in contest_form().config_fields if name in config}
    return {**settings, "title": run.experiment.title, "coders": [row for row in rows if row["model"] in offered]}


def _rows(participants: Sequence[Participant] | Any) -> list[Values]:
    seated = {one.seat: one for one in participants}
    return [{**seated[seat].params, "model": seated[seat].model.slug} for seat in CODERS if seat in seated]
