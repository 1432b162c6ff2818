"""Pages. Each view fetches with the right to see, validates, calls one verb, redirects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.models import Project
from accounts.people import for_readers, person
from accounts.refusing import back_to, wants_json
from experiments.lab.budgets import standing as budget_standing
from experiments.library.annotations import pages, saved_views
from experiments.models import Call, Run, in_batches
from experiments.models.labels import FLAGS
from experiments.runs import actions, lineage, progress, removal, run_list, run_table
from experiments.runs.admission import may_change
from experiments.runs.seats import turns
from experiments.runs.statistics.rows import begins_in
from experiments.runs.timeline import arranged, from_rows
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.shards import is_sharded


@login_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """Runs, newest first or as they are sorted, with a search over titles, prompts and models, and with filters; where
    nothing is asked for, the view that the reader wants to see first.
    """
    if first := pages.default_view(request):
        return redirect(first)
    chosen = run_list.chosen(request.GET, person(request))
    table = run_table.table(request.GET, person(request), chosen)
    offered = {"states": Run.State.choices, "workflows": list(REGISTRY), "flags": FLAGS.items()}
    projects = list(Project.objects.visible_to(request.user))
    kept = pages.list_context(request, [row.item.run for row in table.rows])
    shown = {"table": table, "chosen": chosen, "chips": run_list.chips(chosen, projects), "projects": projects}
    return render(request, "experiments/runs.html", {**shown, **offered, **kept})


@login_required
@require_POST
def columns(request: HttpRequest) -> HttpResponse:
    """Which columns of the list its reader sees from now on."""
    run_table.show_columns(person(request), request.POST.getlist("column"))
    query = saved_views.normal(request.POST.get("query", ""))
    return redirect(f"{reverse('runs')}?{query or 'archived=no'}")


@for_readers
@require_GET
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A run, live or ended: first paint from the rows, the rest by WebSocket."""
    shown = _visible_run(request, pk)
    surface = surface_of(shown.experiment.workflow)
    entries = surface.page_entries(shown) if surface.page_entries else from_rows(shown)
    first = begins_in(shown.experiment)  # None where the workflow has no sides
    context = {
        **_status(request, shown),
        "config": shown.config,
        "entries": entries,
        "slots": arranged(entries, surface.slot),
        "seats": {one.seat: one for one in shown.experiment.participants.select_related("model__provider")},
        "people": turns.people_of(shown),
        "begins": str(first(shown.seed)) if first else "",
        "lineage": lineage.for_page(shown, request.user),
        "is_shard": is_sharded(shown.experiment.workflow),
        **(surface.context(request.user, shown, entries) if surface.context else {}),
    }
    return render(request, [f"workflows/{shown.experiment.workflow}/run.html", "workflows/run.html"], context)


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
        messages.info(request, _("This run had already ended."))
    return _taken(request, shown)


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_run(request, pk)
    back_to(request, shown)
    if not actions.resume(shown, by=person(request)):
        messages.info(request, _("Only a run that failed, was paused, or was stopped by a budget can be resumed."))
    return _taken(request, shown)


@login_required
@require_POST
def rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Its experiment, and so every run of that, has this title from now on."""
    shown = _visible_run(request, pk)
    back_to(request, shown)
    if actions.rename(shown.experiment, by=person(request), title=request.POST.get("title", "")):
        messages.success(request, _("The title is changed."))
    return redirect(shown)


@login_required
def delete(request: HttpRequest) -> HttpResponse:
    """What deleting the named runs and experiments does, and doing it: `?run=…&experiment=…`."""
    given = request.POST if request.method == "POST" else request.GET
    found = run_list.named(given.getlist("run"), given.getlist("experiment"), person(request))
    if request.method == "POST":
        back_to(request, "runs")
        gone = removal.remove(found, by=person(request))
        messages.success(request, ngettext("%(n)s run was deleted.", "%(n)s runs were deleted.", gone) % {"n": gone})
        return redirect("runs")
    refusal = removal.why_not(found, person(request))
    context = {
        "runs": found,
        "titles": list(dict.fromkeys(run.experiment.title for run in found)),
        "refusal": refusal,
        "consequences": [] if refusal else removal.consequences(found, person(request)),
    }
    return render(request, "experiments/delete.html", context, status=refusal.status if refusal else 200)


def _taken(request: HttpRequest, run: Run) -> HttpResponse:
    """For a script, a word: to it, a redirect is the page on which one signs in. For a plain form, back to the run."""
    return JsonResponse({}) if wants_json(request) else redirect(run)


def _status(request: HttpRequest, shown: Run) -> dict[str, Any]:
    may_control = may_change(shown.experiment, request.user)
    return {
        "run": shown,
        "surface": surface_of(shown.experiment.workflow),
        "budget": next(iter(budget_standing.of_experiment(shown.experiment)), None) if may_control else None,
        "progress": progress.of(shown),
        "batch": in_batches([shown.pk]) if shown.experiment.uses_batches else None,
        "standing": progress.summary_of(shown),
        "may_control": may_control,
    }


def _visible_run(request: HttpRequest, pk: UUID) -> Run:
    rows = (
        Run.objects.visible_to(request.user)
        .with_totals()
        .select_related("experiment__owner", "experiment__project", "parent__experiment")
    )
    return get_object_or_404(rows, pk=pk)
