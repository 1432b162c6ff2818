"""The contests that somebody has started, with what came of their cycles."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from experiments.models import Cycle, Run
from experiments.models.labels import short_name
from experiments.workflows.base.surface import Column, RunList
from experiments.workflows.coding.pages.drawings import Histogram, histogram

OF_A_ROW = ("run", "turn", "state", "title", "voided")
THUMBNAIL = (96.0, 24.0)  # width and height


@dataclass(frozen=True, slots=True)
class Cycles:
    """Those of a contest. last: the problem that was set last. overalls: of the rated ones, as a small drawing."""

    planned: int
    rated: int
    void: int
    last: str
    overalls: Histogram


def _cycles(run: Run) -> Cycles:
    cycles: list[Any] = list(run.cycles.all())
    rated = [cycle for cycle in cycles if cycle.state == Cycle.State.RATED]
    return Cycles(
        planned=int(run.config.get("cycles", 1)),
        rated=len(rated),
        void=sum(cycle.state == Cycle.State.VOID for cycle in cycles),
        last=next((cycle.title for cycle in reversed(cycles) if cycle.title), ""),
        overalls=histogram([cycle.overall for cycle in rated if cycle.voided is None], THUMBNAIL),
    )


def _with_cycles(rows: QuerySet[Run]) -> QuerySet[Run]:
    cycles = Cycle.objects.only(*OF_A_ROW).annotate(overall=F("found__overall")).order_by("turn")
    return rows.prefetch_related(Prefetch("cycles", cycles))


def _search(text: str) -> Q:
    of_run = Cycle.objects.filter(run=OuterRef("pk"), title__icontains=text)
    return Q(experiment__title__icontains=text) | Q(Exists(of_run))


CONTESTS = RunList(
    name="contests",
    title=_("Your contests"),
    find=_("Find contests"),
    searched=_("Title or problem"),
    run=_("Contest"),
    begun=_("Started"),
    none=_("You have started no contest yet. The demonstration models need no key."),
    no_fit=_("No contest fits."),
    show_all=_("Show all contests"),
    search=_search,
    sign=lambda seat, label: (seat.rpartition("-")[2], short_name(label)),
    columns=(
        Column(_("Cycles"), "workflows/coding/_counted_cycles.html"),
        Column(_("Overall averages"), "workflows/coding/_thumbnail.html"),
    ),
    details=_cycles,
    fetch=_with_cycles,
    further="workflows/coding/_last_problem.html",
)
