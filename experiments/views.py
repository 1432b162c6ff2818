"""Pages. Each view fetches with the right to see, validates, calls one verb, redirects."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from experiments import actions, progress
from experiments.casting import InvalidExperiment
from experiments.forms import form_for
from experiments.models import Call, Run
from experiments.refusals import NotAllowed
from experiments.timeline import from_rows

RUNS_PER_PAGE = 25


@login_required
def arena(request: HttpRequest) -> HttpResponse:
    """Set up an arena experiment and start a run of it."""
    form = form_for("arena")(request.POST or None, initial=_initial())
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                experiment = actions.create(owner=request.user, workflow="arena", **form.asked())  # type: ignore[arg-type]
                [run] = actions.start(experiment, by=request.user)  # type: ignore[arg-type]
            return redirect(run)
        except InvalidExperiment as error:
            form.complain(error)
        except NotAllowed as error:
            form.add_error(None, str(error))
    return render(request, "workflows/arena.html", {"form": form}, status=422 if form.errors else 200)


def _initial() -> dict[str, Any]:
    """Two different models to begin with, so that the defaults run as they are."""
    models = [slug for slug, _label in form_for("arena")().fields["seat-A-model"].choices]  # type: ignore[attr-defined]
    return {f"seat-{seat}-model": slug for seat, slug in zip("AB", models * 2, strict=False)}


@login_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """My runs, newest first, with a search over titles and a filter by state."""
    search, state = request.GET.get("search", "").strip(), request.GET.get("state", "")
    rows = Run.objects.visible_to(request.user).with_totals().select_related("experiment")
    if search:
        rows = rows.filter(
            Q(experiment__title__icontains=search) | Q(experiment__participants__model__slug__icontains=search)
        ).distinct()
    if state in Run.State.values:
        rows = rows.filter(state=state)
    cast = "experiment__participants__model"
    page = Paginator(rows.prefetch_related(cast), RUNS_PER_PAGE).get_page(request.GET.get("page"))
    items = [progress.of(run) for run in page.object_list]
    context = {"page": page, "items": items, "search": search, "state": state, "states": Run.State.choices}
    return render(request, "experiments/runs.html", context)


@login_required
@require_GET
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A run, live or ended: first paint from the rows, the rest by WebSocket."""
    shown = _visible_run(request, pk)
    context = {"run": shown, "entries": from_rows(shown), "progress": progress.of(shown), "seats": _seats(shown)}
    return render(request, f"workflows/{shown.experiment.workflow}_run.html", context)


@login_required
@require_GET
def run_status(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The status bar alone, fetched again whenever something durable has happened."""
    shown = _visible_run(request, pk)
    return render(request, "experiments/_status.html", {"run": shown, "progress": progress.of(shown)})


@login_required
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
    if not actions.stop(shown, by=request.user):  # type: ignore[arg-type]
        messages.info(request, _("This run had ended already."))
    return redirect(shown)


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_run(request, pk)
    if not actions.resume(shown, by=request.user):  # type: ignore[arg-type]
        messages.info(request, _("Only a failed run can be resumed."))
    return redirect(shown)


def _visible_run(request: HttpRequest, pk: UUID) -> Run:
    rows = Run.objects.visible_to(request.user).with_totals().select_related("experiment__owner")
    return get_object_or_404(rows, pk=pk)


def _seats(run: Run) -> dict[str, Any]:
    participants = run.experiment.participants.select_related("model__provider")
    return {participant.seat: participant for participant in participants}
