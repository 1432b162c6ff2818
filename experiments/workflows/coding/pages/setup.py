"""What fills the form of a contest at first: the pool that was chosen last, or what a run was set up with."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from experiments.catalog.menu import speaking_models
from experiments.library.shelf import flat
from experiments.models import Experiment, Participant
from experiments.shelves.cloning import Source, source
from experiments.workflows.coding.config import CODERS, MOST_CODERS
from experiments.workflows.coding.pages.forms import ContestForm, contest_form, every_model

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Values = dict[str, Any]

USUAL_CODERS = 4


def initial(request: HttpRequest) -> Values:
    """What the form shows at first. What one may not see of `?clone=` is not found."""
    if wanted := request.GET.get("clone"):
        return _of_source(request, source(request.user, wanted, "coding"))
    return {"coders": _usual(request.user)}


def with_everybody(request: HttpRequest) -> ContestForm:
    """The form with every model that can take part; those that were chosen keep their parameters and their place."""
    typed = _typed(request)
    chosen = {row["model"]: row for row in typed["coders"]}
    others = [row for row in every_model() if row["model"] not in chosen]
    if len(chosen) + len(others) < len(speaking_models()):
        words = _("A contest has room for %(most)s models: some were left out.")
        messages.info(request, words % {"most": MOST_CODERS})
    return contest_form()(initial={**typed, "coders": [*chosen.values(), *others][:MOST_CODERS]})


def _typed(request: HttpRequest) -> Values:
    form = contest_form()(request.POST)
    return {name: form[name].value() for name in form.fields}


def _usual(user: "User | AnonymousUser") -> list[Values]:
    """The pool of the last contest, as far as its models are there; otherwise the first few models."""
    offered = [slug for slug, _label in speaking_models()]
    last = Experiment.objects.owned_by(user).filter(workflow="coding").order_by("-created").first()
    if last:
        rows = _rows(last.participants.select_related("model"))
        if rows and all(row["model"] in offered for row in rows):
            return rows
    return [{"model": slug} for slug in offered[:USUAL_CODERS]]


def _of_source(request: HttpRequest, found: Source) -> Values:
    rows = _rows(found.participants)
    offered = {slug for slug, _label in speaking_models()}
    if lost := [row["model"] for row in rows if row["model"] not in offered]:
        words = _("Not available now: %(models)s. Choose other models in their place.")
        messages.warning(request, words % {"models": ", ".join(lost)})
    config: Mapping[str, Any] = dict(flat(found.config))
    settings = {name: config[name] for name in contest_form().config_fields if name in config}
    return {**settings, "title": found.title, "coders": [row for row in rows if row["model"] in offered]}


def _rows(participants: Sequence[Participant] | Any) -> list[Values]:
    seated = {one.seat: one for one in participants}
    return [{**seated[seat].params, "model": seated[seat].model.slug} for seat in CODERS if seat in seated]
