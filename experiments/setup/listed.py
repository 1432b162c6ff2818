"""The runs of a workflow that somebody has, below its set-up form: the newest first, found by words and by state."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from experiments.api.paging import Page, page_of
from experiments.models import Run
from experiments.runs import progress
from experiments.workflows.base.surface import RunList


@dataclass(frozen=True, slots=True)
class Seated:
    """A model in a row of the list. sign: what stands for its seat: a letter, or a number."""

    seat: str
    sign: str
    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """A run in the list. details: what its workflow adds."""

    progress: progress.Progress
    cast: list[Seated]
    details: Any

    @property
    def run(self) -> Run:
        return self.progress.run


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the list, as far as its runs fit what is searched for. states: those that can be chosen. counted: how
    many there are, in words.
    """

    declared: RunList
    page: Page
    items: list[Item]
    search: str
    state: str
    states: list[tuple[str, Any]]
    counted: str


def of(request: HttpRequest, workflow: str, declared: RunList) -> Listed:
    search, state = request.GET.get("search", "").strip(), request.GET.get("state", "")
    every = Run.objects.changeable_by(request.user) if declared.is_own else Run.objects.visible_to(request.user)
    rows = every.filter(experiment__workflow=workflow)
    if search:
        rows = rows.filter(declared.search(search))
    states = Run.State.choices if declared.has_states else []
    if any(state == value for value, _label in states):
        rows = rows.filter(state=state)
    page = page_of(rows, request.GET, declared.size)
    shown = page.rows(Run.objects.with_totals().select_related("experiment"))
    shown = shown.prefetch_related("experiment__participants__model")
    items = [_item(run, declared) for run in (declared.fetch(shown) if declared.fetch else shown)]
    counted = declared.counted(len(items)) if declared.counted and page.is_all else ""
    return Listed(declared, page, items, search, state, states, counted)


def _item(run: Run, declared: RunList) -> Item:
    seats = ((one.seat, declared.sign(one.seat, one.model.label)) for one in run.experiment.participants.all())
    cast = [Seated(seat, *signed) for seat, signed in seats if signed]
    return Item(progress.of(run), cast, declared.details(run) if declared.details else None)
