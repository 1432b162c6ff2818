"""The pages of coding beside its run's: one of its cycles, and the ratings of its models."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.models import Cycle
from experiments.runs.steering.views import visible_run
from experiments.workflows.coding.pages import cycles, standing, voiding


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
    return render(request, page, {"run": run, **standing.of_run(run)})
