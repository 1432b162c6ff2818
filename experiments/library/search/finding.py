"""What was asked for is found, the latest first, in steps that are short however much there is.

The newest passages are walked through; where they hold less than a page, the older ones are asked of the index of
words, in spans that grow. So a word that is everywhere is found without collecting all its places, and a rare one
without reading what lies between.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import F, Max, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from accounts.models import Project, User
from experiments.library.search.datasets import PLACE as DATASETS
from experiments.library.search.datasets import DatasetGroup, find_datasets
from experiments.library.search.excerpts import Part, excerpt
from experiments.library.search.indexing import MESSAGE, REASONING, SETUP, prompts, said
from experiments.library.search.query import MARKED, Asked, Sought, mark
from experiments.models import LIVE_STATES, TERMINAL_STATES, Experiment, Passage, Run
from experiments.workflows import surface_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

PER_PAGE = 20
SPANS = (10_000, 300_000, 2**62)  # passages that are looked through in one step, of which the first is walked through
FEW = 1_000  # experiments that are named one by one
TEXTS: dict[str, Callable[[Sequence[UUID]], dict[UUID, str]]] = {}  # what notes and the like say, by kind and source
STATES = {"live": LIVE_STATES, "ended": TERMINAL_STATES}
PLACES = {
    "messages": (MESSAGE,),
    "reasoning": (REASONING,),
    "setup": (SETUP,),
    "notes": (Passage.Kind.NOTE,),
    DATASETS: (),
    "all": tuple(Passage.Kind.values),
}
USUALLY = tuple(kind for kind in Passage.Kind.values if kind != REASONING)


@dataclass(frozen=True, slots=True)
class Hit:
    """A place where it was found: a message of a run, the set-up of an experiment, or what belongs to a run."""

    passage: Passage
    parts: list[Part]

    @property
    def address(self) -> str:
        passage = self.passage
        if passage.run_id is None:
            return reverse("experiment", args=[passage.experiment_id])
        anchor = f"#message-{passage.message_id}" if passage.message_id else ""
        turn = passage.message.turn if passage.message else 0
        own = surface_of(passage.experiment.workflow).address
        page = own(passage.run_id, turn) if own and turn else reverse("run", args=[passage.run_id])
        return page + anchor


@dataclass(frozen=True, slots=True)
class Group:
    """What was found in one run, or in the set-up of one experiment."""

    hits: list[Hit]

    @property
    def first(self) -> Passage:
        return self.hits[0].passage

    @property
    def address(self) -> str:
        run = self.first.run
        return run.get_absolute_url() if run else self.hits[0].address


@dataclass(frozen=True, slots=True)
class Found:
    """older: where the next page begins; None where there is none. datasets: of the first page alone."""

    hits: list[Hit]
    older: int | None
    datasets: list[DatasetGroup] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.hits or self.datasets)

    @property
    def groups(self) -> list[Group]:
        """The hits by their run, in the sequence of the first of each."""
        groups: dict[UUID, list[Hit]] = {}
        for hit in self.hits:
            groups.setdefault(hit.passage.run_id or hit.passage.experiment_id, []).append(hit)
        return [Group(hits) for hits in groups.values()]


def find(asked: Asked, person: "User | AnonymousUser", *, before: int | None = None, most: int = PER_PAGE) -> Found:
    """before: where the page before this one ended. Raises Invalid."""
    if not asked:
        return Found([], None)
    rows = matching(asked, person)
    end = before if before is not None else (Passage.objects.aggregate(newest=Max("pk"))["newest"] or 0) + 1
    keys: list[int] = []
    for size in SPANS:
        if end > 1 and len(keys) <= most:
            start = max(1, end - size)
            span = rows.filter(pk__gte=start, pk__lt=end)
            # A sum is in no index: the planner cannot hope to meet the words on a walk along the keys.
            ordered = span.order_by("-pk" if size == SPANS[0] else (F("id") + 0).desc())
            keys += ordered.values_list("pk", flat=True)[: most + 1 - len(keys)]
            end = start
    shown = keys[:most]
    datasets = find_datasets(asked, person) if before is None else []
    return Found(_hits(shown, asked), shown[-1] if len(keys) > most else None, datasets)


def matching(asked: Asked, person: "User | AnonymousUser") -> QuerySet[Passage]:
    """Of what the person may see: an experiment at a time where that is little. Raises Invalid."""
    rows = Passage.objects.filter(_conditions(asked, person)).order_by()
    marks = [_marks(name, asked.filters[name]) for name in MARKED if name in asked.filters]
    excluded = [one for name in MARKED for one in _marks(name, asked.excluded.get(name, ()))]
    if wanted := Sought(asked.phrases, tuple(marks), asked.without, tuple(excluded)):
        rows = rows.filter(words__matches=wanted)
    visible = Experiment.objects.visible_to(person).order_by()
    few = list(visible.values_list("pk", flat=True)[: FEW + 1])
    shown = rows.readable_by(person)
    return shown.filter(experiment__in=few) if len(few) <= FEW else shown.filter(experiment__in=visible.values("pk"))


def _hits(keys: Sequence[int], asked: Asked) -> list[Hit]:
    related = ("experiment__owner", "run", "message")
    found = list(Passage.objects.filter(pk__in=keys).select_related(*related).defer("words").order_by("-pk"))
    others: dict[UUID, str] = {}
    for kind, read in TEXTS.items():
        if sources := [one.source for one in found if one.kind == kind]:
            others |= read(sources)
    return [Hit(one, excerpt(_texts(one, others), asked.phrases)) for one in found]


def _texts(passage: Passage, others: dict[UUID, str]) -> list[str]:
    if passage.kind == Passage.Kind.SETUP:
        return [*prompts(passage.experiment.config), passage.experiment.title]
    message = passage.message
    if message is None or passage.kind == Passage.Kind.NOTE:
        return [others.get(passage.source, "")]
    if passage.kind == Passage.Kind.REASONING:
        return [message.reasoning]
    return said({"text": message.text, "raw_text": message.raw_text, "operator": message.operator})


def _conditions(asked: Asked, person: "User | AnonymousUser") -> Q:
    """What the rows are asked for beside the index. Raises Invalid."""
    found = Q(kind__in=USUALLY) if "in" not in asked.filters else Q()
    for name, read in CONDITIONS.items():
        if values := asked.filters.get(name):
            found &= reduce(or_, (read(value, person) for value in values))
        if values := asked.excluded.get(name):
            found &= ~reduce(or_, (read(value, person) for value in values))
    return found


def _marks(name: str, values: Iterable[str]) -> tuple[str, ...]:
    if name != "by":
        return tuple(mark(name, value) for value in values)
    people = User.objects.filter(username__in=list(values)).values_list("pk", flat=True)
    return tuple(mark(name, str(pk)) for pk in people) or (mark(name, "nobody"),) if values else ()


def _state(value: str, person: "User | AnonymousUser") -> Q:
    states = STATES.get(value.lower()) or ((value.lower(),) if value.lower() in Run.State.values else ())
    if not states:
        offered = ", ".join([*Run.State.values, *STATES])
        raise Invalid(
            q=_("There is no state %(value)s. Choose one of %(offered)s.") % {"value": value, "offered": offered}
        )
    return Q(run__state__in=states)


def _midnight(value: str) -> datetime:
    try:
        day = date.fromisoformat(value)
    except ValueError as error:
        raise Invalid(q=_("%(value)s is not a date. Write it as 2026-01-31.") % {"value": value}) from error
    if not 2000 <= day.year <= 2200:
        raise Invalid(q=_("%(value)s is not a date between the years 2000 and 2200.") % {"value": value})
    return datetime.combine(day, time(), UTC)


def _place(value: str, person: "User | AnonymousUser") -> Q:
    if value.lower() not in PLACES:
        offered = ", ".join(PLACES)
        raise Invalid(
            q=_("%(value)s cannot be searched. Choose one of %(offered)s.") % {"value": value, "offered": offered}
        )
    return Q(kind__in=PLACES[value.lower()])


CONDITIONS: dict[str, Callable[[str, "User | AnonymousUser"], Q]] = {
    "state": _state,
    "from": lambda value, person: Q(created__gte=_midnight(value)),
    "to": lambda value, person: Q(created__lt=_midnight(value) + timedelta(days=1)),
    "project": lambda value, person: Q(
        experiment__project__in=Project.objects.visible_to(person).filter(name__iexact=value)
    ),
    "in": _place,
}
