"""The contests that somebody has started: newest first, with what came of their cycles."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Prefetch, Q
from django.http import HttpRequest

from experiments import progress
from experiments.models import Cycle, Run
from experiments.paging import page_of
from experiments.workflows.coding.pages.drawings import Histogram, histogram

RUNS_PER_PAGE = 10
OF_A_ROW = ("run", "turn", "state", "title", "voided")


@dataclass(frozen=True, slots=True)
class Item:
    """A contest in the list. last: the problem that was set last. overalls: of its rated cycles, as a small drawing."""

    run: Run
    progress: progress.Progress
    rated: int
    void: int
    last: str
    overalls: Histogram

    @property
    def planned(self) -> int:
        return int(self.run.config.get("cycles", 1))


def context(request: HttpRequest) -> dict[str, object]:
    search = request.GET.get("search", "").strip()
    rows = Run.objects.changeable_by(request.user).filter(experiment__workflow="coding")
    if search:
        of_run = Cycle.objects.filter(run=OuterRef("pk"), title__icontains=search)
        rows = rows.filter(Q(experiment__title__icontains=search) | Q(Exists(of_run)))
    cycles = Prefetch("cycles", Cycle.objects.only(*OF_A_ROW).annotate(overall=F("found__overall")).order_by("turn"))
    page = page_of(rows, request.GET, RUNS_PER_PAGE)
    shown = page.rows(Run.objects.with_totals().select_related("experiment"))
    shown = shown.prefetch_related("experiment__participants__model", cycles)
    return {"page": page, "items": [_item(run) for run in shown], "search": search}


def _item(run: Run) -> Item:
    cycles: list[Any] = list(run.cycles.all())
    rated = [cycle for cycle in cycles if cycle.state == Cycle.State.RATED]
    return Item(
        run=run,
        progress=progress.of(run),
        rated=len(rated),
        void=sum(cycle.state == Cycle.State.VOID for cycle in cycles),
        last=next((cycle.title for cycle in reversed(cycles) if cycle.title), ""),
        overalls=histogram([cycle.overall for cycle in rated if cycle.voided is None], THUMBNAIL),
    )


THUMBNAIL = (96.0, 24.0)  # width and height
