"""Findings become rows: a step, the rows of their projection, and the events that tell of them.

Writers of projections that several workflows share are here; those of a workflow's own are in the module that it names
as its ROWS.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any
from uuid import UUID

from django.utils import timezone

from experiments import metrics
from experiments.engine.events import Fact
from experiments.engine.text import storable_data
from experiments.models import Call, Judgment, Message, Participant, Run, Step
from experiments.search import indexing
from experiments.serializers import JudgmentSerializer, TranscriptSerializer
from experiments.workflows import REGISTRY
from experiments.workflows.base import records
from experiments.workflows.base.records import (
    Finding,
    JudgeEvaluationCompleted,
    MessageParsed,
    MessageSent,
    MessageSuperseded,
    Projection,
    Record,
    SeatReplaced,
)

Writer = Callable[[Step, Record, Any], list[Fact]]  # of the step, its record, and the finding as its class


def record_step(run_id: UUID, record: Record) -> list[Fact]:
    """The facts are to be told in the same transaction."""
    record = replace(record, finding=_storable(record.finding))
    step = Step.objects.create(
        run_id=run_id,
        key=record.key,
        kind="record",
        purpose=record.kind,
        turn=record.turn,
        state=Step.State.DONE,
        ended=timezone.now(),
    )
    return _writers()[record.finding.into](step, record, record.finding)


def kept(step: Step, record: Record, data: dict[str, Any] | None = None) -> list[Fact]:
    """Keep with the step what is told, for pages; data: where that is not the finding as it stands."""
    step.data = record.data if data is None else data
    step.save(update_fields=["data"])
    return [Fact(record.kind, step.data)]


def source(step: Step, record: Record) -> Call | None:
    """The last call of the step that the record rests on."""
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source)
    return calls.select_related("model").order_by("attempt").last()


def message_data(message: Message) -> dict[str, Any]:
    return dict(TranscriptSerializer(message).data)


@cache
def _writers() -> Mapping[Projection, Writer]:
    own = [import_module(workflow.rows).WRITERS for workflow in REGISTRY.values() if workflow.rows]
    return {name: writer for writers in (WRITERS, *own) for name, writer in writers.items()}


def _storable(finding: Finding) -> Finding:
    data = finding.model_dump(exclude_unset=True)
    storable = storable_data(data)
    return finding if storable == data else finding.model_validate(storable)


def _announced(step: Step, record: Record, finding: Finding) -> list[Fact]:
    return [Fact(record.kind, record.data)]


def _kept(step: Step, record: Record, finding: Finding) -> list[Fact]:
    return kept(step, record)


# --- messages ---


def _spoken(step: Step, record: Record, finding: MessageSent) -> list[Fact]:
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
    indexing.messages(message.pk)
    return [Fact("message_completed", message_data(message))]


def _parsed(step: Step, record: Record, finding: MessageParsed) -> list[Fact]:
    message = message_of(step, finding.message)
    flags = list(dict.fromkeys([*message.flags, *finding.flags]))
    return changed(message, record.kind, parsed=finding.parsed, text=finding.text, flags=flags)


def _superseded(step: Step, record: Record, finding: MessageSuperseded) -> list[Fact]:
    return changed(message_of(step, finding.message), record.kind, superseded=True)


def changed(message: Message, told_as: str, **fields: Any) -> list[Fact]:
    for name, value in fields.items():
        setattr(message, name, value)
    message.save(update_fields=list(fields))
    if "text" in fields:
        indexing.messages(message.pk)
    return [Fact(told_as, message_data(message))]


def message_of(step: Step, key: str) -> Message:
    return Message.objects.select_related("call", "step").get(run_id=step.run_id, step__key=key)


# --- judgments and seats ---


def _judged(step: Step, record: Record, finding: JudgeEvaluationCompleted) -> list[Fact]:
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
    data = {"key": key, "turn": step.turn, "judgments": JudgmentSerializer(rows, many=True).data}
    return [Fact(record.kind, data), *_metrics(step.run_id, [row.subject for row in rows])]


def _metrics(run_id: UUID, subjects: Sequence[str]) -> list[Fact]:
    run = Run.objects.get(pk=run_id)
    last = max(run.judgments.values_list("turn", flat=True), default=0)
    of_seat = metrics.run_metrics(run, subjects, until=last)
    return [Fact("model_metrics", {"seat": seat, "metrics": of_seat[seat]}) for seat in subjects]


def _replaced_seat(step: Step, record: Record, finding: SeatReplaced) -> list[Fact]:
    seats = {finding.seat, finding.by, finding.failed}
    seated = Participant.objects.filter(experiment__runs=step.run_id, seat__in=seats).select_related("model")
    labels = {participant.seat: participant.model.label for participant in seated}
    names = {"model": labels.get(finding.by, ""), "failed_model": labels.get(finding.failed, "")}
    return kept(step, record, {**record.data, **names})


WRITERS: Mapping[Projection, Writer] = {
    records.ANNOUNCED: _announced,
    records.KEPT: _kept,
    records.SPOKEN_BY_PERSON: _spoken,
    records.MESSAGE_PARSED: _parsed,
    records.MESSAGE_SUPERSEDED: _superseded,
    records.TURN_JUDGED: _judged,
    records.SEAT_REPLACED: _replaced_seat,
}
