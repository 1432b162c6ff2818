"""Pages. Each view fetches with the right to see, validates, calls one verb, redirects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Project
from accounts.people import for_readers, person
from experiments import actions, arena_setup, lineage, progress, run_list, standing
from experiments.admission import may_change
from experiments.beginning import begin
from experiments.budgets import notes as budget_notes
from experiments.budgets import standing as budget_standing
from experiments.contests import pages as contest_pages
from experiments.councils import pages as council_pages
from experiments.forms import SetupForm
from experiments.labels import FLAGS
from experiments.models import Call, Run
from experiments.refusals import NotAllowed
from experiments.shelves import listing
from experiments.statistics.rows import begins_in
from experiments.steering import rejudging
from experiments.timeline import from_rows
from experiments.workflows import REGISTRY
from experiments.workflows.prompts import fill

ENTRIES = {"coding": contest_pages.entries}  # which entries a page shows at first, where it does not show all
# what the page of a workflow needs beside what every run's page has
MORE = {"council": council_pages.context, "coding": contest_pages.context}


@login_required
def arena(request: HttpRequest) -> HttpResponse:
    """Set up an arena experiment and start its runs."""
    form = arena_setup.arena_form()(request.POST or None, initial=arena_setup.initial(request))
    if begun := begin(request, form, "arena", form.asked):
        return redirect(begun[0]) if len(begun) == 1 else redirect("experiment", pk=begun[0].experiment_id)
    context = {**_estimate(request, form), "form": form, "think": fill("arena_think")}
    return render(request, "workflows/arena.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def arena_estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return render(request, "workflows/_estimate.html", _estimate(request, arena_setup.arena_form()(request.POST)))


@login_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """Runs, newest first, with a search over titles, prompts and models, and with filters; where nothing is asked for,
    the view that the reader wants to see first.
    """
    if first := listing.default_view(request):
        return redirect(first)
    chosen = run_list.chosen(request.GET, person(request))
    page, items = run_list.page(request.GET, person(request), chosen)
    offered = {"states": Run.State.choices, "workflows": list(REGISTRY), "flags": FLAGS.items()}
    offered["projects"] = Project.objects.visible_to(request.user)
    shelves = listing.context(request, [item.run for item in items])
    shown = {"page": page, "items": items, "chosen": chosen, **offered, **shelves}
    return render(request, "experiments/runs.html", shown)


@for_readers
@require_GET
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A run, live or ended: first paint from the rows, the rest by WebSocket."""
    shown = _visible_run(request, pk)
    entries = ENTRIES.get(shown.experiment.workflow, from_rows)(shown)
    more = MORE.get(shown.experiment.workflow)
    context = {
        **_status(request, shown),
        "entries": entries,
        "seats": _seats(shown),
        "begins": _begins(shown),
        "lineage": lineage.for_page(shown, request.user),
        "rejudged": rejudging.of(shown, request.user) if shown.experiment.workflow == "judging" else None,
        **(more(shown, entries) if more else {}),
    }
    return render(request, f"workflows/{shown.experiment.workflow}_run.html", context)


@for_readers
@require_GET
def run_status(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The status bar alone, fetched again whenever something durable has happened."""
    return render(request, "experiments/_status.html", _status(request, _visible_run(request, pk)))


@for_readers
@require_GET
def call(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The inspector: what was sent, what came back, by whom, at what cost, in which attempts."""
    calls = Call.objects.filter(run__in=Run.objects.visible_to(request.user))
    shown = get_object_or_404(calls.select_related("step", "run__experiment", "model__provider"), pk=pk)
    attempts = shown.step.calls.select_related("model__provider").order_by("attempt")
    return render(request, "experiments/call.html", {"call": shown, "attempts": attempts, "run": shown.run})


@login_required
@require_POST
def stop(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_run(request, pk)
    if not actions.stop(shown, by=person(request)):
        messages.info(request, _("This run had ended already."))
    return _taken(request, shown)


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_run(request, pk)
    try:
        if not actions.resume(shown, by=person(request)):
            messages.info(request, _("Only a run that failed, was paused or was stopped by a budget can be resumed."))
    except NotAllowed as error:
        messages.error(request, str(error))
    return _taken(request, shown)


def _taken(request: HttpRequest, run: Run) -> HttpResponse:
    """For a script, a word: to it, a redirect is the page on which one signs in. For a plain form, back to the run."""
    return JsonResponse({}) if request.headers.get("Accept", "").startswith("application/json") else redirect(run)


def _estimate(request: HttpRequest, form: SetupForm) -> dict[str, Any]:
    estimate = arena_setup.estimate_of(form)
    return {"estimate": estimate, "budget_notes": budget_notes.beside(request, estimate)}


def _status(request: HttpRequest, shown: Run) -> dict[str, Any]:
    may_control = may_change(shown.experiment, request.user)
    return {
        "run": shown,
        "budget": next(iter(budget_standing.of_experiment(shown.experiment)), None) if may_control else None,
        "progress": progress.of(shown),
        "standing": standing.of(shown),
        "may_control": may_control,
    }


def _visible_run(request: HttpRequest, pk: UUID) -> Run:
    rows = (
        Run.objects.visible_to(request.user)
        .with_totals()
        .select_related("experiment__owner", "experiment__project", "parent__experiment")
    )
    return get_object_or_404(rows, pk=pk)


def _begins(run: Run) -> str:
    """The side that speaks first in this run; "" where the workflow has no sides."""
    first = begins_in(run.experiment)
    return str(first(run.seed)) if first else ""


def _seats(run: Run) -> dict[str, Any]:
    participants = run.experiment.participants.select_related("model__provider")
    return {participant.seat: participant for participant in participants}
