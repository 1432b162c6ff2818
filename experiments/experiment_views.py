"""The page of an experiment with its repeats, and two runs side by side."""

import csv
from typing import Any
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
from experiments import actions, budget_views, campaign_views, lineage, progress
from experiments.admission import may_change
from experiments.comparison import Said, compare
from experiments.idempotency import KeyReused
from experiments.models import Experiment, Message, Run
from experiments.refusals import NotAllowed
from experiments.repeating import MoreRuns, fresh_form, may_repeat
from experiments.shards import is_sharded
from experiments.statistics import rows
from experiments.statistics.table import COLUMNS, table
from experiments.statistics.values import values_of

RUNS_PER_PAGE = 25


@for_readers
@require_GET
def experiment(request: HttpRequest, pk: UUID) -> HttpResponse:
    """An experiment: its set-up, its runs, what they say together, and what branched from them."""
    shown = _visible_experiment(request, pk)
    if is_sharded(shown.workflow):
        return campaign_views.campaign(request, shown)
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
    try:
        started = actions.start(shown, by=person(request), **form.asked())
    except NotAllowed as error:
        form.add_error(None, str(error))
        return _page(request, shown, form, status=403)
    except KeyReused:
        messages.warning(request, _("This form had been sent before, with other numbers: check them and start again."))
        return _page(request, shown, fresh_form(shown), status=409)
    said = ngettext("%(n)s run started.", "%(n)s runs started.", len(started))
    messages.success(request, said % {"n": len(started)})
    return redirect("experiment", pk=shown.pk)


@for_readers
@require_GET
def experiment_values(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The per-run values behind the statistics, as CSV."""
    found = rows.repeats(_visible_experiment(request, pk), request.GET.getlist("with"))
    return values_as_csv(found)


@for_readers
@require_GET
def run_compare(request: HttpRequest, pk: UUID, other: UUID) -> HttpResponse:
    """Two runs side by side: their talks aligned, their numbers beside each other."""
    left, right = _visible_run(request, pk), _visible_run(request, other)
    context = {
        "left": left,
        "right": right,
        "sides": [_side(left), _side(right)],
        "numbers": _numbers(left, right),
        "comparison": compare(_said(left), _said(right)),
        "models": [_models(left), _models(right)],
    }
    return render(request, "experiments/compare.html", context)


@for_readers
@require_GET
def compare_chosen(request: HttpRequest) -> HttpResponse:
    """From a form that chose two runs to their comparison."""
    try:
        left, right = UUID(request.GET.get("left", "")), UUID(request.GET.get("right", ""))
    except ValueError as error:
        raise Http404 from error
    return redirect("run-compare", pk=left, other=right)


def values_as_csv(found: rows.Repeats) -> HttpResponse:
    """Every cell is a number, an identifier or a word of ours: nothing in it can be taken for a formula."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiment-{found.experiment.pk}.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    writer.writerows(table(found.statistics))
    return response


def _page(request: HttpRequest, shown: Experiment, form: MoreRuns | None, status: int = 200) -> HttpResponse:
    found = rows.repeats(shown, request.GET.getlist("with"))
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


def _visible_run(request: HttpRequest, pk: UUID) -> Run:
    mine = Run.objects.visible_to(request.user).with_totals().select_related("experiment")
    return get_object_or_404(mine.prefetch_related("experiment__participants__model__provider"), pk=pk)


def _side(run: Run) -> progress.Progress:
    return progress.of(run)


def _said(run: Run) -> list[Said]:
    """The talk as it stands: without answers in whose place another was asked for."""
    return [_as_said(message) for message in run.messages.filter(superseded=False).order_by("turn", "seq")]


def _as_said(message: Message) -> Said:
    return Said(
        turn=message.turn,
        seat=message.seat,
        text=message.raw_text or message.text,
        passed_on=message.text,
        anchor=f"message-{message.pk}",
        edited_by=str((message.operator or {}).get("by", "")),
    )


def _models(run: Run) -> dict[str, Any]:
    return {participant.seat: participant.model for participant in run.experiment.participants.all()}


def _numbers(left: Run, right: Run) -> list[dict[str, Any]]:
    """By subject: the values of both runs, measure by measure."""
    subjects = tuple(dict.fromkeys((*rows.subjects_of(left.experiment), *rows.subjects_of(right.experiment))))
    one, other = rows.facts([left, right], subjects)
    return [{"subject": s, "left": values_of(one.of(s)), "right": values_of(other.of(s))} for s in subjects]
