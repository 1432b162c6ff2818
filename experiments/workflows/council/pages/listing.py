"""The councils that somebody has asked: found by title and by every question, newest first."""

from django.http import HttpRequest

from experiments import progress
from experiments.models import Run
from experiments.paging import page_of
from experiments.search.runs import said_or_set_up
from experiments.search.sought import mark

RUNS_PER_PAGE = 10


def context(request: HttpRequest) -> dict[str, object]:
    search = request.GET.get("search", "").strip()
    rows = Run.objects.changeable_by(request.user).filter(experiment__workflow="council")
    if search:
        rows = rows.filter(said_or_set_up(search, mark("workflow", "council"), said_by=mark("seat", "person")))
    page = page_of(rows, request.GET, RUNS_PER_PAGE)
    shown = page.rows(Run.objects.with_totals().select_related("experiment"))
    items = [progress.of(run) for run in shown.prefetch_related("experiment__participants__model")]
    return {"page": page, "items": items, "search": search}
