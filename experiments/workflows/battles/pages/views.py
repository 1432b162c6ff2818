"""The pages of battles: setting them up with a preview, the campaign with its live figures, stopping and resuming."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from experiments import actions
from experiments.budgets import views as budget_views
from experiments.casting import InvalidExperiment
from experiments.datasets.making import may_curate
from experiments.models import Dataset, Experiment
from experiments.refusals import NotAllowed, Rivalled
from experiments.setup.estimates import PAGE
from experiments.shards import SHARDED
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.pages import initial as campaign_initial
from experiments.workflows.battles.pages import pages as campaign_pages
from experiments.workflows.battles.pages import previews as campaign_previews
from experiments.workflows.battles.pages.forms import BattlesForm, CampaignForm
from experiments.workflows.battles.pages.outputs_forms import OutputsForm
from experiments.workflows.battles.pages.setup import datasets, offer, offer_of


@login_required
def battles(request: HttpRequest) -> HttpResponse:
    """Set up battles; under it, what was set up before. `choose` shows another dataset and keeps what was typed."""
    if request.method != "POST" or campaign_initial.is_choosing(request):
        return _page(request, campaign_initial.form(request))
    form = _bound(request)
    if shown := _begun(request, form):
        return redirect("experiment", pk=shown.pk)
    return _page(request, form)


@login_required
@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return render(request, PAGE, campaign_previews.of_form(_bound(request), request))


@login_required
def outputs_make(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask models for what they make of a dataset's samples."""
    offered = offer_of(_dataset_to_fill(request, slug))
    form = OutputsForm(request.POST or None, offer=offered)
    if request.method == "POST" and (shown := _begun(request, form)):
        return redirect("experiment", pk=shown.pk)
    context = {"form": form, "offer": offered, **campaign_previews.of_form(form, request)}
    return render(request, "workflows/outputs/setup.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def outputs_estimate(request: HttpRequest, slug: str) -> HttpResponse:
    form = OutputsForm(request.POST, offer=offer_of(_dataset_to_fill(request, slug)))
    return render(request, PAGE, campaign_previews.of_form(form, request))


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


def _begun(request: HttpRequest, form: CampaignForm) -> Experiment | None:
    """Created and started, or neither: then the form says why."""
    if not form.is_valid():
        return None
    try:
        with transaction.atomic():
            project = request.POST.get("project", "")
            shown = actions.create(owner=person(request), workflow=form.workflow, project=project, **form.asked())
            actions.start(shown, by=person(request))
            return shown
    except InvalidExperiment as error:
        form.complain(error)
    except (NotAllowed, Rivalled) as error:
        form.add_error(None, str(error))
    return None


def _dataset_to_fill(request: HttpRequest, slug: str) -> Dataset:
    """One's own: whoever may only look at a dataset adds no contestants to it, unless they curate the lab's."""
    rows = Dataset.objects.visible_to(request.user)
    dataset = get_object_or_404(rows, slug=slug, state=Dataset.State.READY, modality=Dataset.Modality.TEXT)
    if not may_curate(person(request), dataset):
        raise Http404
    return dataset


def _done(request: HttpRequest, pk: UUID, verb: Callable[[Experiment], bool], otherwise: str) -> HttpResponse:
    shown = _visible(request, pk)
    try:
        if not verb(shown):
            messages.info(request, otherwise)
    except (NotAllowed, InvalidExperiment, Rivalled) as error:
        messages.error(request, str(error))
    return redirect("experiment", pk=shown.pk)


def _limits(request: HttpRequest) -> dict[str, Any]:
    """As they were typed; whether they can hold is the verb's to say."""
    given = {name: request.POST.get(name, "").strip() for name in ("cost", "tokens", "seconds")}
    return {name: value for name, value in given.items() if value}


def _visible(request: HttpRequest, pk: UUID) -> Experiment:
    mine = Experiment.objects.visible_to(request.user).filter(workflow__in=SHARDED)
    return get_object_or_404(mine.select_related("owner", "campaign"), pk=pk)


def _bound(request: HttpRequest) -> BattlesForm:
    """Of a dataset that is not offered the form says so, beside the lists of another one."""
    offered = datasets(request.user)
    chosen = offer(offered, request.POST.get("dataset", "")) or campaign_initial.first(offered)
    return BattlesForm(request.POST, datasets=offered, offer=chosen)


def _page(request: HttpRequest, form: BattlesForm) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "offer": form.offer,
        **campaign_previews.of_form(form, request),
        **campaign_pages.listed(request),
    }
    return render(
        request, "workflows/battles/setup.html", context, status=422 if form.is_bound and form.errors else 200
    )
