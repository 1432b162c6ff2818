"""What was asked for is found, the latest first, in steps that are short however much there is.

The newest passages are walked through; where they hold less than a page, the older ones are asked of the index of
words, in spans that grow. So a word that is everywhere is found without collecting all its places, and a rare one
without reading what lies between.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import F, Max, QuerySet
from django.urls import reverse

from experiments.library.search.asked import Asked
from experiments.library.search.excerpts import Part, excerpt
from experiments.library.search.filters import conditions, sought
from experiments.library.search.passages import prompts, said
from experiments.models import Experiment, Message, Passage
from experiments.workflows import surface_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

PER_PAGE = 20
SPANS = (10_000, 300_000, 2**62)  # passages that are looked through in one step, of which the first is walked through
FEW = 1_000  # experiments that are named one by one
TEXTS: dict[str, Callable[[Sequence[UUID]], dict[UUID, str]]] = {}  # what notes and the like say, by kind and source


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
class Found:
    """older: where the next page begins; None where there is none."""

    hits: list[Hit]
    older: int | None


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
    return Found(_hits(shown, asked), shown[-1] if len(keys) > most else None)


def matching(asked: Asked, person: "User | AnonymousUser") -> QuerySet[Passage]:
    """Of what the person may see: an experiment at a time where that is little. Raises Invalid."""
    rows = Passage.objects.filter(conditions(asked, person)).order_by()
    wanted = sought(asked)
    rows = rows.filter(words__matches=wanted) if wanted else rows
    visible = Experiment.objects.visible_to(person).order_by()
    few = list(visible.values_list("pk", flat=True)[: FEW + 1])
    shown = rows.readable_by(person)
    return shown.filter(experiment__in=few) if len(few) <= FEW else shown.filter(experiment__in=visible.values("pk"))


def _hits(keys: Sequence[int], asked: Asked) -> list[Hit]:
    related = ("experiment__owner", "run", "message")
    rows = Passage.objects.filter(pk__in=keys).select_related(*related).defer("words").order_by("-pk")
    found = list(rows)
    others = _others(found)
    return [Hit(one, excerpt(_texts(one, others), asked.phrases)) for one in found]


def _others(found: Iterable[Passage]) -> dict[UUID, str]:
    sources: dict[str, list[UUID]] = {}
    for one in found:
        sources.setdefault(one.kind, []).append(one.source)
    return {key: text for kind, read in TEXTS.items() if kind in sources for key, text in read(sources[kind]).items()}


def _texts(passage: Passage, others: dict[UUID, str]) -> list[str]:
    if passage.kind == Passage.Kind.SETUP:
        return [*prompts(passage.experiment.config), passage.experiment.title]
    if passage.message is None or passage.kind == Passage.Kind.NOTE:
        return [others.get(passage.source, "")]
    return [passage.message.reasoning] if passage.kind == Passage.Kind.REASONING else _said(passage.message)


def _said(message: Message) -> list[str]:
    return said({name: getattr(message, name) for name in ("text", "raw_text", "operator")})
