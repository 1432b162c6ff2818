"""The list of runs: what it is asked for, and the rows that fit."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Project
from experiments.api.pagination import Page, page_of
from experiments.library.annotations import tags
from experiments.library.search.query import Sought, mark
from experiments.library.search.runs import beginnings, set_up_with, with_message
from experiments.models import Experiment, Run
from experiments.runs import progress
from experiments.workflows import REGISTRY
from experiments.workflows.shards import without_shards

if TYPE_CHECKING:
    from accounts.models import User

RUNS_PER_PAGE = 25
WHOSE = ("mine", "shared", "all")
Narrowing = Callable[["RunRows", str, "User"], "RunRows"]
RunRows = QuerySet[Run]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the list is asked for, by the names in its address. Empty: not asked for."""

    search: str = ""
    state: str = ""
    workflow: str = ""
    whose: str = ""
    flag: str = ""
    model: str = ""
    by: str = ""
    project: str = ""
    since: str = ""
    until: str = ""
    tag: str = ""

    @property
    def further(self) -> list[str]:
        """Values of the filters that are folded away."""
        return [value for value in (self.flag, self.model, self.by, self.project, self.since, self.until) if value]

    @property
    def is_narrow(self) -> bool:
        return bool(self.search or self.state or self.workflow or self.tag or self.further)


def chosen(asked: Mapping[str, str], person: "User") -> Chosen:
    values = {name: asked.get(name, "").replace("\0", "").strip()[:200] for name in Chosen.__slots__}
    usual = "mine" if person.may_experiment else "all"
    return Chosen(**values | {"whose": values["whose"] if values["whose"] in WHOSE else usual})


def fitting(chosen: Chosen, person: "User") -> RunRows:
    """The runs that somebody may see and has asked for, in no sequence."""
    rows: RunRows = Run.objects.filter(experiment__in=_experiments(chosen.whose, person)).order_by()
    rows = rows.filter(experiment__workflow=chosen.workflow) if chosen.workflow in REGISTRY else without_shards(rows)
    for name, value in asdict(chosen).items():
        if value and name in NARROWINGS:
            rows = NARROWINGS[name](rows, value, person)
    return rows


def page(asked: Mapping[str, str], person: "User", chosen: Chosen) -> tuple[Page, list[progress.Progress]]:
    """A page of the list, and its runs with what the list says of them."""
    found = page_of(fitting(chosen, person), asked, RUNS_PER_PAGE)
    rows = found.rows(Run.objects.with_totals().select_related("experiment__owner", "experiment__project"))
    rows = rows.prefetch_related("experiment__participants__model")
    return found, [progress.of(run) for run in rows]


def _experiments(whose: str, person: "User") -> QuerySet[Experiment]:
    """mine: those that I own. shared: those of others that I may look at. all: both."""
    if whose == "mine":
        return Experiment.objects.owned_by(person).order_by()
    seen = Experiment.objects.visible_to(person).order_by()
    return seen.exclude(owner=person) if whose == "shared" else seen


def _project(rows: RunRows, value: str, person: "User") -> RunRows:
    try:
        wanted = UUID(value)
    except ValueError:
        return rows.none()
    return rows.filter(experiment__project__in=Project.objects.visible_to(person).filter(pk=wanted))


def _since(rows: RunRows, value: str, person: "User") -> RunRows:
    day = midnight(value)
    return rows.filter(created__gte=day) if day else rows


def _until(rows: RunRows, value: str, person: "User") -> RunRows:
    day = midnight(value)
    return rows.filter(created__lt=day + timedelta(days=1)) if day else rows


def midnight(value: str) -> datetime | None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return None
    return datetime.combine(day, time(), UTC) if 2000 <= day.year <= 2200 else None


NARROWINGS: dict[str, Narrowing] = {
    "search": lambda rows, value, person: rows.filter(set_up_with(Sought(beginnings(value)))),
    "model": lambda rows, value, person: rows.filter(set_up_with(Sought(marks=((mark("model", value),),)))),
    "state": lambda rows, value, person: rows.filter(state=value) if value in Run.State.values else rows,
    "flag": lambda rows, value, person: rows.filter(with_message(Sought(marks=((mark("flag", value),),)))),
    "by": lambda rows, value, person: rows.filter(experiment__owner__username=value),
    "project": _project,
    "since": _since,
    "until": _until,
    "tag": lambda rows, value, person: tags.with_tag(rows, value),
}
