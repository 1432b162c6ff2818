"""The set-up page that every workflow has which declares one."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from experiments.beginning import begin
from experiments.catalog.menu import askable_models, usual_cast
from experiments.labels import seat_name
from experiments.library.shelf import flat
from experiments.models import Participant
from experiments.setup import estimates
from experiments.setup.forms import declared, setup_form
from experiments.shelves.cloning import Source, source
from experiments.workflows import surface_of


@login_required
def setup(request: HttpRequest, workflow: str) -> HttpResponse:
    """Set a workflow up and start its runs."""
    form = setup_form(workflow)(request.POST or None, initial=_initial(request, workflow))
    if begun := begin(request, form, workflow, form.asked):
        return redirect(begun[0]) if len(begun) == 1 else redirect("experiment", pk=begun[0].experiment_id)
    page = declared(workflow)
    context = {
        "form": form,
        "page": page,
        "surface": surface_of(workflow),
        **estimates.context(request, form),
        **(page.context(request) if page.context else {}),
    }
    return render(request, "setup/page.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def estimate(request: HttpRequest, workflow: str) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return estimates.page(request, setup_form(workflow)(request.POST))


def _initial(request: HttpRequest, workflow: str) -> dict[str, Any]:
    """The models used last, or different ones; or what a run or an experiment was set up with that one may see
    (`?clone=`).
    """
    seats = sorted(declared(workflow).seats, key=lambda seat: bool(seat.needs))  # a box may leave these out
    needed = [seat.seat for seat in seats if not seat.nobody]
    usual = {f"seat-{seat}-model": slug for seat, slug in usual_cast(request.user, workflow, needed).items()}
    if not (wanted := request.GET.get("clone")):
        return usual
    found = source(request.user, wanted, workflow)
    for one in _not_askable(found):
        words = _("%(model)s is not available now: choose another model. It was: %(seat)s.")
        messages.warning(request, words % {"model": one.model.label, "seat": seat_name(one.seat)})
    values = {**usual, **dict(flat(found.config)), "title": found.title}
    for one in found.participants:
        values |= {f"seat-{one.seat}-{name}": value for name, value in {"model": one.model.slug, **one.params}.items()}
    return values


def _not_askable(found: Source) -> Iterator[Participant]:
    askable = {model.slug for model in askable_models()}
    return (one for one in found.participants if one.model.slug not in askable)
