"""The pages of battles beside their set-up: the campaign with its live figures, stopping and resuming."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from accounts.refusing import back_to
from experiments.lab.budgets import views as budget_views
from experiments.models import Experiment
from experiments.workflows.base.limits import WORDS
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.pages import pages as campaign_pages
from experiments.workflows.shards import SHARDED


def campaign(request: HttpRequest, shown: Experiment) -> HttpResponse:
    """The page of an experiment whose work is shared out over many runs."""
    context = {**campaign_pages.context(shown, request), **budget_views.of_experiment(shown, request)}
    return render(request, "workflows/battles/campaign.html", context)


@for_readers
@require_GET
def live(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The parts of the page that change while it runs."""
    found = campaign_pages.live(_visible(request, pk), request)
    return render(
        request,
        "workflows/battles/_withheld.html" if found.get("is_withheld") else "workflows/battles/_live.html",
        found,
    )


@login_required
@require_POST
def stop(request: HttpRequest, pk: UUID) -> HttpResponse:
    told = _("Nothing was under way any more.")
    return _done(request, pk, lambda shown: campaigns.stop(shown, by=person(request)), told)


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ask again what was left open, and for the first time what has joined since."""
    told = _("Nothing is open or missing: there is nothing to resume.")
    limits = _limits(request) if "changes-limits" in request.POST else None
    return _done(request, pk, lambda shown: campaigns.resume(shown, by=person(request), limits=limits), told)


def _done(request: HttpRequest, pk: UUID, verb: Callable[[Experiment], bool], otherwise: str) -> HttpResponse:
    shown = _visible(request, pk)
    back_to(request, "experiment", pk=shown.pk)
    if not verb(shown):
        messages.info(request, otherwise)
    return redirect("experiment", pk=shown.pk)


def _limits(request: HttpRequest) -> dict[str, Any]:
    """As they were typed; whether they can hold is the verb's to say."""
    given = {name: request.POST.get(name, "").strip() for name in WORDS}
    return {name: value for name, value in given.items() if value}


def _visible(request: HttpRequest, pk: UUID) -> Experiment:
    mine = Experiment.objects.visible_to(request.user).filter(workflow__in=SHARDED)
    return get_object_or_404(mine.select_related("owner", "campaign"), pk=pk)
