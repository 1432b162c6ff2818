"""The pages of coding beside its run's: one of its cycles, the ratings of its models, and all cycles as files."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_GET

from accounts.attachments import streamed, to_be_saved
from accounts.people import for_readers
from experiments.models import Cycle, Run
from experiments.runs.reports.document import file_name
from experiments.runs.steering.views import visible_run
from experiments.workflows.coding import WORKFLOW
from experiments.workflows.coding.pages import cycles, files, voiding
from experiments.workflows.coding.pages.drawings import ratings_of_run


@for_readers
@require_GET
def cycle(request: HttpRequest, pk: UUID, turn: int) -> HttpResponse:
    """A cycle: its problem, what everybody made of it, and who judged it how."""
    rows = Cycle.objects.visible_to(request.user).select_related("run__experiment", "voided_by")
    shown = get_object_or_404(rows, run=pk, turn=turn)
    context = {**cycles.context(shown), "may_void": voiding.may_void(request.user)}
    return render(request, "workflows/coding/cycle.html", context)


@for_readers
@require_GET
def ratings(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the contest's own cycles say of its models, as a page; for a script (`?part=1`) the figures alone."""
    run = visible_run(request, pk)
    page = "workflows/coding/_standing.html" if request.GET.get("part") else "workflows/coding/ratings.html"
    return render(request, page, {"run": run, **ratings_of_run(run)})


@for_readers
@require_GET
def run_artifacts(request: HttpRequest, pk: UUID) -> StreamingHttpResponse:
    """A zip with every cycle so far."""
    runs = Run.objects.visible_to(request.user).select_related("experiment")
    run = get_object_or_404(runs, pk=pk, experiment__workflow=WORKFLOW.slug)
    return to_be_saved(streamed(request, files.zipped(run)), "application/zip", file_name(run, "zip"))


urlpatterns = [
    path("runs/<uuid:pk>/cycles/<int:turn>/", cycle, name="coding-cycle"),
    path("runs/<uuid:pk>/ratings/", ratings, name="coding-ratings"),
    path("runs/<uuid:pk>/artifacts.zip", run_artifacts, name="run-artifacts"),
]
