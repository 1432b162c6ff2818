"""What a queue is filled with: its filters as a value, and the rows that they leave."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any, NamedTuple, Self
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, model_validator

from experiments.models import TERMINAL_STATES, Judgment, Message, Participant, ProviderModel, ReviewQueue, Run
from experiments.models.reviewed import WIDELY
from experiments.workflows import REGISTRY
from experiments.workflows.base.judge import RANGES
from experiments.workflows.shards import SCORING

MOST_ITEMS = 5_000
USUAL_RANGE = (0.0, 10.0)  # of judges' scores other than the arena's
BATCH = 500

Share = Annotated[float, Field(ge=0, le=1)]


class Filters(BaseModel):
    """Everything is optional. confidence_below: of the judge. disagreement: the least distance of two judges on one
    measure, as a share of its range. sample, seed: so many, drawn at random; the same seed draws the same ones.
    """

    model_config = ConfigDict(extra="forbid")

    workflow: str = Field(default="", max_length=20)
    experiment: UUID | None = None
    model: str = Field(default="", max_length=200)
    judge: str = Field(default="", max_length=200)
    flags: list[Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]] = []
    confidence_below: Share | None = None
    disagreement: Share | None = None
    since: date | None = None
    until: date | None = None
    sample: Annotated[int, Field(ge=1, le=MOST_ITEMS)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.workflow and self.workflow not in REGISTRY:
            raise ValueError("there is no workflow of this name")
        if self.since and self.until and self.until < self.since:
            raise ValueError("the last day is before the first one")
        return self

    @property
    def is_about_judges(self) -> bool:
        return bool(self.judge) or self.confidence_below is not None


class Found(NamedTuple):
    """A row that goes into a queue: the fields of its item."""

    subject: str
    run_id: UUID
    message_id: UUID | None = None
    judgment_id: UUID | None = None
    turn: int | None = None
    seat: str = ""
    stratum: str = ""
    probability: float | None = None


def runs_of(queue: ReviewQueue) -> QuerySet[Run]:
    """The runs that a queue may show: those of its project, those that the lab sees, and its owner's own."""
    runs = Run.objects.filter(state__in=TERMINAL_STATES)
    if queue.project_id:
        return runs.filter(experiment__project=queue.project_id).exclude(experiment__visibility="private")
    own = Q(experiment__owner=queue.owner_id)
    return runs.filter(own | Q(experiment__visibility__in=WIDELY)) if queue.is_lab else runs.filter(own)


def chosen(queue: ReviewQueue, known: set[str]) -> list[Found]:
    """What is to be added to a queue that holds `known` already, in the order in which it was said, or drawn."""
    asked = Filters.model_validate(queue.filters)
    runs = _filtered(runs_of(queue), asked)
    kinds = {"messages": _messages, "transcripts": _transcripts, "judgments": _judgments}
    fresh = [one for one in kinds[queue.over](runs, asked) if one.subject not in known]
    room = MOST_ITEMS - len(known)
    if asked.sample is None:
        return fresh[:room]
    # Each thing has its own place in the lottery: more of them do not change the places of the others.
    fresh.sort(key=lambda one: hashlib.sha256(f"{asked.seed}:{one.subject}".encode()).hexdigest())
    return fresh[: max(0, min(room, asked.sample - len(known)))]


def _filtered(runs: QuerySet[Run], asked: Filters) -> QuerySet[Run]:
    if asked.workflow:
        runs = runs.filter(experiment__workflow=asked.workflow)
    if asked.experiment:
        runs = runs.filter(experiment=asked.experiment)
    if asked.since:
        runs = runs.filter(created__gte=_midnight(asked.since))
    if asked.until:
        runs = runs.filter(created__lt=_midnight(asked.until) + timedelta(days=1))
    if asked.model:
        named = Q(model__slug=asked.model) | Q(model__label=asked.model)
        runs = runs.filter(experiment__in=Participant.objects.filter(named).values("experiment"))
    return runs.order_by("created", "pk")


def _transcripts(runs: QuerySet[Run], asked: Filters) -> list[Found]:
    messages = Message.objects.filter(run=OuterRef("pk"))
    runs = runs.filter(Exists(messages))
    if asked.flags:
        runs = runs.filter(Exists(_flagged(messages, asked.flags)))
    if asked.is_about_judges:
        runs = runs.filter(Exists(_judged(Judgment.objects.filter(run=OuterRef("pk")), asked)))
    found = list(runs.values_list("pk", flat=True))
    if asked.disagreement is not None:
        apart = {run for run, _turn, _seat in disputed(found, asked.disagreement)}
        found = [pk for pk in found if pk in apart]
    return [Found(f"run:{pk}", pk) for pk in found]


def _messages(runs: QuerySet[Run], asked: Filters) -> list[Found]:
    rows = Message.objects.filter(run__in=runs.order_by().values("pk"), superseded=False).exclude(text="")
    if asked.model:
        labels = ProviderModel.objects.filter(Q(slug=asked.model) | Q(label=asked.model)).values("label")
        rows = rows.filter(Q(model__in=labels) | Q(model=asked.model))
    else:
        rows = rows.exclude(model="")  # what people said themselves is not reviewed
    if asked.flags:
        rows = _flagged(rows, asked.flags)
    if asked.is_about_judges:
        same = Judgment.objects.filter(run=OuterRef("run"), turn=OuterRef("turn"), subject=OuterRef("seat"))
        rows = rows.filter(Exists(_judged(same, asked)))
    found = rows.order_by("run__created", "run", "seq").values_list("pk", "run", "turn", "seat")
    return [Found(f"message:{pk}", run, message_id=pk) for pk, run in _apart(found, asked)]


def _judgments(runs: QuerySet[Run], asked: Filters) -> list[Found]:
    rows = _judged(Judgment.objects.filter(run__in=runs.order_by().values("pk")), asked)
    if asked.flags:
        judged = Message.objects.filter(run=OuterRef("run"), turn=OuterRef("turn"), seat=OuterRef("subject"))
        rows = rows.filter(Exists(_flagged(judged, asked.flags)))
    found = rows.order_by("run__created", "run", "turn", "subject", "pk").values_list("pk", "run", "turn", "subject")
    return [Found(f"judgment:{pk}", run, judgment_id=pk) for pk, run in _apart(found, asked)]


def _apart(found: Iterable[tuple[UUID, UUID, int, str]], asked: Filters) -> list[tuple[UUID, UUID]]:
    """The ids of rows and of their runs: of those (id, run, turn, seat) alone that judges dispute, if that is asked."""
    rows = list(found)
    if asked.disagreement is not None:
        apart = disputed({run for _pk, run, _turn, _seat in rows}, asked.disagreement)
        rows = [row for row in rows if row[1:] in apart]
    return [(pk, run) for pk, run, _turn, _seat in rows]


def _judged(rows: QuerySet[Judgment], asked: Filters) -> QuerySet[Judgment]:
    if asked.judge:
        rows = rows.filter(judge=asked.judge)
    if asked.confidence_below is not None:
        rows = rows.filter(confidence__lt=asked.confidence_below)
    return rows


def _flagged(rows: QuerySet[Message], flags: Sequence[str]) -> QuerySet[Message]:
    """Those with one of the flags; `truncated` and `refusal` are also what the provider said of its reply."""
    wanted = Q()
    for flag in flags:
        wanted |= Q(flags_text__contains=f'"{flag}"')
    finish = {"truncated": "length", "refusal": "content_filter"}
    wanted |= Q(finish_reason__in=[finish[flag] for flag in flags if flag in finish])
    return rows.annotate(flags_text=Cast("flags", TextField())).filter(wanted)


def disputed(runs: Iterable[UUID], least: float) -> set[tuple[UUID, int, str]]:
    """Where two judges are at least so far apart: judges of one run, and those who judged it again."""
    found: dict[tuple[UUID, int, str], list[dict[str, float]]] = defaultdict(list)
    keys = list(runs)
    for begin in range(0, len(keys), BATCH):
        some = keys[begin : begin + BATCH]
        own = Judgment.objects.filter(run__in=some).annotate(of=F("run"))
        again = Judgment.objects.filter(run__parent__in=some, run__experiment__workflow__in=SCORING)
        for rows in (own, again.annotate(of=F("run__parent"))):
            for of, turn, subject, scores in rows.values_list("of", "turn", "subject", "scores").order_by():
                found[of, turn, subject].append(scores or {})
    return {place for place, given in found.items() if distance(given) >= least and len(given) > 1}


def distance(given: Sequence[dict[str, Any]]) -> float:
    """The largest distance of two scores on one measure, as a share of the measure's range."""
    apart = [0.0]
    for name in {name for scores in given for name in scores}:
        values = [scores[name] for scores in given if isinstance(scores.get(name), int | float)]
        if len(values) > 1:
            low, high = RANGES.get(name, USUAL_RANGE)
            apart.append((max(values) - min(values)) / (high - low))
    return max(apart)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
