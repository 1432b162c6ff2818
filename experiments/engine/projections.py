"""Findings become rows: a step, the rows of their projection, and the events that tell of them.

A row writer has a side for each way in which rows come to be: they are written as a run is played, shown on its page,
copied into a branch, and restored from a document. Those of projections that several workflows share are here; those of
a workflow's own are in the module that it names as its `rows`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Prefetch, QuerySet
from django.utils import timezone
from pydantic import BaseModel
from rest_framework.serializers import ModelSerializer

from experiments.api.serializers import JudgmentSerializer, TranscriptSerializer
from experiments.engine.text import storable_data
from experiments.library.search import indexing
from experiments.models import Call, Judgment, Message, Participant, Run, Step
from experiments.runs import metrics
from experiments.workflows import REGISTRY, workflow_of
from experiments.workflows.base import records
from experiments.workflows.base.events import (
    EventData,
    JsonObject,
    JudgeEvaluationCompletedData,
    JudgmentShown,
    MessageCompleted,
    MessageData,
    MessageParsedData,
    MessageSupersededData,
    ModelMetrics,
    PersonAbsent,
    StepSkipped,
    Stored,
)
from experiments.workflows.base.records import (
    Finding,
    JudgeEvaluationCompleted,
    JudgeEvaluationStarted,
    MessageParsed,
    MessageSent,
    MessageSuperseded,
    Projection,
    Record,
    SeatReplaced,
    SeatReplacedData,
    TurnStarted,
)

ABSENT = "absent"  # the kind of error of a person who gave no answer in time
COPIED = "outcome"  # where a step that was copied into a branch keeps what had become of it
F = TypeVar("F", bound=Finding)
M = TypeVar("M", bound=Model)
StepOf = Callable[[Any], tuple[str, str]]  # from a row that is imported: the key and the purpose of a step


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a page is made of: the steps by their keys, and the messages as they are shown, by their steps' ids."""

    steps: Mapping[str, Step]
    messages: Mapping[int, JsonObject]


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows that the document of a run lists.

    name: of the list; line: of one row, where each is a line, and of the field of a step that names its row. rows: of a
    run, in order. shape: of a row that is imported; `most`: how many there may be at most. step: the key and the
    purpose of the step that left a row, where a document has no steps; None for rows to which no step leads.
    needs_steps: they are not restored without the steps that the document has.
    """

    name: str
    line: str
    rows: Callable[[Run], QuerySet[Any]]
    serializer: type[ModelSerializer[Any]]
    shape: type[BaseModel]
    most: int
    step: StepOf | None = None
    needs_steps: bool = False


@dataclass(frozen=True, slots=True)
class Restoring:
    """A run that is restored from a document. steps: by their keys; ids: new ones, by those of the document; calls and
    step_of, the step that left a row: by the document's ids.
    """

    run: Run
    steps: Mapping[str, Step]
    ids: Mapping[str, str]
    calls: Mapping[UUID, Call]
    step_of: Mapping[UUID, Step]


class RowWriter(Generic[F]):
    """Of findings that become no rows of their own; subclasses override the sides that differ.

    endings: how the keys of steps end that say something about a message; a branch from the message has them too.
    is_copied: whether a branch has steps of this projection at all. listed: the rows in the document of a run.
    """

    endings: ClassVar[tuple[str, ...]] = ()
    is_copied: ClassVar[bool] = True
    listed: ClassVar[Listed | None] = None

    def write(self, step: Step, record: Record, finding: F) -> list[EventData]:
        """In the transaction of the step. Returns the events to be written in the same one."""
        return [finding]

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        """The steps with the rows that `entries` and `copy` read, so that no query is made for each."""
        return steps

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        """What the run page shows of the step, as the latest of its events tells it."""
        if step.data:
            yield stored(step.purpose, step.data)

    def copy(self, step: Step, into: Step) -> None:
        """Write the rows of the step for its copy in a branch."""

    def wrong(self, rows: Sequence[Any], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        """What is wrong with the listed rows of a document, with the places in a row. executed: the keys of steps in
        which code is run.
        """
        return iter(())

    def restore(self, rows: Sequence[Any], into: Restoring) -> None:
        """Write the listed rows of a document, which are right."""


def kept(step: Step, told: EventData) -> list[EventData]:
    """Keep the event's data with the step, for pages."""
    step.data = told.data()
    step.save(update_fields=["data"])
    return [told]


def stored(type_: str, data: JsonObject) -> Stored:
    """An event as it was told before; its data were validated then."""
    return Stored.model_construct(type=type_, stored=data)


def copied(row: M, into: Step, leaving: tuple[str, ...] = (), **changes: Any) -> M:
    """The same row for the step of another run, not saved. leaving: fields that begin anew."""
    own = ("run", "step", *leaving)
    fields = [field for field in row._meta.concrete_fields if not field.primary_key and field.name not in own]
    values = {field.attname: getattr(row, field.attname) for field in fields}
    return type(row)(**{**values, "run_id": into.run_id, "step": into, **changes})


def source(step: Step, record: Record) -> Call | None:
    """The last call of the step that the record rests on."""
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source)
    return calls.select_related("model").order_by("attempt").last()


def message_data(message: Message) -> JsonObject:
    return dict(_transcript().to_representation(message))


@cache
def _transcript() -> TranscriptSerializer:
    """One for all messages: to make its fields takes longer than to write what they say."""
    return TranscriptSerializer()


def message_of(step: Step, key: str) -> Message:
    return Message.objects.select_related("call__model", "step").get(run_id=step.run_id, step__key=key)


def changed(message: Message, told: type[MessageData], **fields: Any) -> list[EventData]:
    """Save the fields. told: the event that shows the message as it is then."""
    for name, value in fields.items():
        setattr(message, name, value)
    message.save(update_fields=list(fields))
    if "text" in fields:
        indexing.message(message)
    return [told.model_validate(message_data(message))]


# --- all projections ---


def record_step(run_id: UUID, record: Record) -> list[EventData]:
    """The events are to be written in the same transaction."""
    data = record.finding.model_dump(exclude_unset=True)
    if (storable := storable_data(data)) != data:
        record = replace(record, finding=record.finding.model_validate(storable))
    step = Step.objects.create(
        run_id=run_id,
        key=record.key,
        kind="record",
        purpose=record.kind,
        turn=record.turn,
        state=Step.State.DONE,
        ended=timezone.now(),
    )
    return row_writers()[record.finding.into].write(step, record, record.finding)


@cache
def row_writers() -> Mapping[Projection, RowWriter[Any]]:
    return {name: writer for slug in REGISTRY for name, writer in _writers_of(slug).items()}


@cache
def _writers_of(workflow: str) -> Mapping[Projection, RowWriter[Any]]:
    """Those that all workflows share, and its own."""
    rows = workflow_of(workflow).rows
    return {**ROW_WRITERS, **(import_module(rows).ROW_WRITERS if rows else {})}


def with_rows(steps: QuerySet[Step], workflow: str = "") -> QuerySet[Step]:
    """The steps with what pages, branches and documents read of their rows. workflow: whose projections alone are read;
    "" for those of all.
    """
    for writer in (_writers_of(workflow) if workflow else row_writers()).values():
        steps = writer.with_rows(steps)
    return steps


def listed_writers() -> list[tuple[Listed, RowWriter[Any]]]:
    """Those whose rows stand in the document of a run, in its order."""
    return [(writer.listed, writer) for writer in row_writers().values() if writer.listed]


def row_writer_of(step: Step) -> RowWriter[Any]:
    """What a step states without a class that is known here is kept with it."""
    if into := records.OF_STEPS.get(step.kind):
        return row_writers()[into]
    return row_writers()[_projections().get(step.purpose, records.KEPT)]


@cache
def _projections() -> Mapping[str, Projection]:
    """By the types of findings."""
    findings = (*records.SHARED, *(finding for workflow in REGISTRY.values() for finding in workflow.records))
    return {finding.model_fields["type"].default: finding.into for finding in findings}


# --- steps ---


class Asked(RowWriter[Finding]):
    endings = ("/repair",)

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        """Messages and failed calls, which any step may have, are shown beside this."""
        outcome = step.data.get(COPIED, {})
        place = {"key": step.key, "purpose": step.purpose, "seat": step.seat, "turn": step.turn}
        if outcome.get("error_kind") == "limit":
            yield StepSkipped(**place)
        elif outcome.get("error_kind") == ABSENT:
            yield PersonAbsent(**place, message=outcome["error"])


class Heard(RowWriter[Finding]):
    """Of pauses and offers."""

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        if step.state == Step.State.DONE:
            yield step.said


class Announced(RowWriter[Finding]):
    endings = ("/completed",)


class Kept(RowWriter[Finding]):
    def write(self, step: Step, record: Record, finding: Finding) -> list[EventData]:
        return kept(step, finding)


class TurnBegun(RowWriter[TurnStarted]):
    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        yield stored(step.purpose, {"turn": step.turn})


class SeatsReplaced(RowWriter[SeatReplaced]):
    def write(self, step: Step, record: Record, finding: SeatReplaced) -> list[EventData]:
        seats = {finding.seat, finding.by, finding.failed}
        seated = Participant.objects.filter(experiment__runs=step.run_id, seat__in=seats).select_related("model")
        labels = {participant.seat: participant.model.label for participant in seated}
        names = {"model": labels.get(finding.by, ""), "failed_model": labels.get(finding.failed, "")}
        return kept(step, SeatReplacedData(**finding.data(), **names))


# --- messages ---


class SpokenByPerson(RowWriter[MessageSent]):
    def write(self, step: Step, record: Record, finding: MessageSent) -> list[EventData]:
        """Words of a person: they become a message as they stand."""
        message = Message.objects.create(
            run_id=step.run_id,
            step=step,
            seq=1 + Run.objects.values_list("last_seq", flat=True).get(pk=step.run_id),  # the run's row is locked
            turn=step.turn or 0,
            seat=finding.seat,
            raw_text=finding.text,
            text=finding.text,
            parsed=finding.parsed,
        )
        indexing.message(message)
        return [MessageCompleted.model_validate(message_data(message))]


class ParsedMessage(RowWriter[MessageParsed]):
    endings = ("/parsed",)

    def write(self, step: Step, record: Record, finding: MessageParsed) -> list[EventData]:
        message = message_of(step, finding.message)
        flags = list(dict.fromkeys([*message.flags, *finding.flags]))
        return changed(message, MessageParsedData, parsed=finding.parsed, text=finding.text, flags=flags)


class SupersededMessage(RowWriter[MessageSuperseded]):
    is_copied = False  # a branch goes on before another answer took the place of this one

    def write(self, step: Step, record: Record, finding: MessageSuperseded) -> list[EventData]:
        return changed(message_of(step, finding.message), MessageSupersededData, superseded=True)


# --- judgments ---


class Judged(RowWriter[F]):
    """Of steps that leave judgments."""

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        return steps.prefetch_related(Prefetch("judgments", to_attr="judged"))  # type: ignore[no-redef]  # by the stubs

    def copy(self, step: Step, into: Step) -> None:
        Judgment.objects.bulk_create(copied(judgment, into) for judgment in step.judged)


class JudgeStarted(RowWriter[JudgeEvaluationStarted]):
    endings = ("/judge", "/judge/started")

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        """What was found stands where judging began."""
        key = step.key.removesuffix("/started")
        done, judged = (loaded.steps.get(f"{key}/{said}") for said in ("completed", "judged"))
        if judged is not None:
            yield stored(judged.purpose, judged.data)
        elif done is not None:
            shown = judgments_shown(done.judged)
            yield JudgeEvaluationCompletedData(key=key, turn=step.turn, judgments=shown)
        else:
            yield stored(step.purpose, {"key": key, "turn": step.turn})


class TurnJudged(Judged[JudgeEvaluationCompleted]):
    endings = ("/judge/completed",)

    def write(self, step: Step, record: Record, finding: JudgeEvaluationCompleted) -> list[EventData]:
        call = source(step, record)
        same = {
            "step": step,
            "run_id": step.run_id,
            "turn": step.turn or 0,
            "call": call,
            "judge": call.model.label if call else "",
            "dynamics": finding.dynamics,
        }
        rows = Judgment.objects.bulk_create(Judgment(**same, **found.model_dump()) for found in finding.judgments)
        key = record.key.removesuffix("/completed")
        told = JudgeEvaluationCompletedData(key=key, turn=step.turn, judgments=judgments_shown(rows))
        return [told, *metrics_shown(Run(pk=step.run_id), [row.subject for row in rows])]

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        return iter(())


def judgments_shown(rows: Sequence[Judgment]) -> list[JudgmentShown]:
    return [JudgmentShown(**_judgment().to_representation(row)) for row in rows]


@cache
def _judgment() -> JudgmentSerializer:
    return JudgmentSerializer()


def metrics_shown(
    run: Run, subjects: Sequence[str], judgments: Sequence[Judgment] | None = None
) -> Iterator[ModelMetrics]:
    """Of each subject, as it was after the last judged turn. judgments: of the run, in order, where at hand."""
    of_seat = metrics.run_metrics(run, subjects, until_judged=True, judgments=judgments)
    for seat in subjects:
        yield ModelMetrics(seat=seat, metrics=of_seat[seat])


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {
    records.OF_STEPS["ask"]: Asked(),
    records.OF_STEPS["listen"]: Heard(),
    records.ANNOUNCED: Announced(),
    records.KEPT: Kept(),
    records.TURN_STARTED: TurnBegun(),
    records.SPOKEN_BY_PERSON: SpokenByPerson(),
    records.MESSAGE_PARSED: ParsedMessage(),
    records.MESSAGE_SUPERSEDED: SupersededMessage(),
    records.JUDGE_STARTED: JudgeStarted(),
    records.TURN_JUDGED: TurnJudged(),
    records.SEAT_REPLACED: SeatsReplaced(),
}
