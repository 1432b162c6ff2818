"""The page of an experiment with its repeats."""

import csv
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from accounts.refusing import ShownIn, status_of
from experiments.api.idempotency import KeyReused
from experiments.lab.budgets import views as budget_views
from experiments.models import Experiment, Run
from experiments.runs import actions, lineage, progress
from experiments.runs.admission import may_change
from experiments.runs.reports.csv_export import cell
from experiments.runs.statistics import rows
from experiments.runs.statistics.summary import COLUMNS, table
from experiments.runs.steering.repeating import MoreRuns, fresh_form, may_repeat
from experiments.workflows import services_of

RUNS_PER_PAGE = 25


@for_readers
@require_GET
def experiment(request: HttpRequest, pk: UUID) -> HttpResponse:
    """An experiment: its set-up, its runs, what they say together, and what branched from them."""
    shown = _visible_experiment(request, pk)
    if page := services_of(shown.workflow).page:
        return cast(HttpResponse, page(request, shown))
    return _page(request, shown, fresh_form(shown) if may_repeat(shown) else None)


@login_required
@require_POST
def experiment_start(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Start more runs. The form carries a token: sent twice, it starts its runs once."""
    shown = _visible_experiment(request, pk)
    if not may_repeat(shown):
        raise Http404
    form = MoreRuns(request.POST)
    if not form.is_valid():
        return _page(request, shown, form, status=422)
    with ShownIn(form):
        try:
            started = actions.start(shown, by=person(request), **form.asked())
        except KeyReused as error:
            said = _("This form had been sent before, with other numbers: check them and start again.")
            messages.warning(request, said)
            return _page(request, shown, fresh_form(shown), status=error.status)
        said = ngettext("%(n)s run started.", "%(n)s runs started.", len(started))
        messages.success(request, said % {"n": len(started)})
        return redirect("experiment", pk=shown.pk)
    return _page(request, shown, form, status=status_of(form))


@for_readers
@require_GET
def experiment_values(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The per-run values behind the statistics, as CSV."""
    found = rows.repeats(_visible_experiment(request, pk), request.GET.getlist("with"), reader=request.user)
    return values_as_csv(found)


def values_as_csv(found: rows.Repeats) -> HttpResponse:
    """A subject may have any name that somebody gave it: nothing in a cell is taken for a formula."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiment-{found.experiment.pk}.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    writer.writerows([cell(value) for value in row] for row in table(found.statistics))
    return response


def _page(request: HttpRequest, shown: Experiment, form: MoreRuns | None, status: int = 200) -> HttpResponse:
    found = rows.repeats(shown, request.GET.getlist("with"), reader=request.user)
    everything = sorted((*found.counted, *(left.run for left in found.left_out)), key=_newest_first, reverse=True)
    page = Paginator(everything, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    first = rows.begins_in(shown)
    family = lineage.for_experiment(shown, request.user)
    context = {
        "experiment": shown,
        "participants": list(shown.participants.all()),
        "repeats": found,
        "reasons": {left.run.pk: left.reason for left in found.left_out},
        "begins": {run.pk: first(run.seed) for run in page.object_list} if first else {},
        "page": page,
        "items": [progress.of(run) for run in page.object_list],
        "form": form,
        "may_control": may_change(shown, request.user),
        "lineage": family,
        **budget_views.of_experiment(shown, request),
    }
    return render(request, "experiments/experiment.html", context, status=status)


def _newest_first(run: Run) -> Any:
    return (run.created, run.seed)


def _visible_experiment(request: HttpRequest, pk: UUID) -> Experiment:
    mine = Experiment.objects.visible_to(request.user).select_related("owner", "project")
    return get_object_or_404(mine.prefetch_related("participants__model__provider"), pk=pk)
