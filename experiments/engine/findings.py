"""What a workflow records: a step, the rows of its kind where there are any, and the events that tell of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from experiments import metrics
from experiments.engine.events import Fact
from experiments.engine.text import storable, storable_data
from experiments.models import Call, Judgment, Message, Run, Step
from experiments.serializers import JudgmentSerializer, MessageSerializer
from experiments.workflows.steps import Record


def record_step(run_id: UUID, record: Record) -> list[Fact]:
    now = timezone.now()
    step = Step.objects.create(
        run_id=run_id,
        key=record.key,
        kind="record",
        purpose=record.kind,
        turn=record.turn,
        state=Step.State.DONE,
        ended=now,
    )
    return FINDINGS.get(record.kind, _plain_fact)(step, replace(record, data=storable_data(record.data)))


def _plain_fact(step: Step, record: Record) -> list[Fact]:
    return [Fact(record.kind, dict(record.data))]


def _source(step: Step, record: Record) -> Call | None:
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source)
    return calls.select_related("model").order_by("attempt").last()


def _filter(step: Step, record: Record) -> list[Fact]:
    message = Message.objects.get(run_id=step.run_id, step__key=record.data["message"])
    message.text = storable(record.data["text"])
    message.filter = {**record.data["filter"], "call": _id(_source(step, record))}
    message.save(update_fields=["text", "filter"])
    return [Fact(record.kind, message_data(message))]


def _judgments(step: Step, record: Record) -> list[Fact]:
    call = _source(step, record)
    same = {
        "step": step,
        "run_id": step.run_id,
        "turn": step.turn or 0,
        "call": call,
        "judge": call.model.label if call else "",
        "dynamics": record.data["dynamics"],
    }
    judgments = Judgment.objects.bulk_create(Judgment(**same, **data) for data in record.data["judgments"])
    data = {"turn": step.turn, "judgments": JudgmentSerializer(judgments, many=True).data}
    return [Fact(record.kind, data), *_metrics(step.run_id, [judgment.subject for judgment in judgments])]


def _metrics(run_id: UUID, subjects: Sequence[str]) -> list[Fact]:
    of_seat = metrics.run_metrics(Run.objects.get(pk=run_id), subjects)
    return [Fact("model_metrics", {"seat": seat, "metrics": of_seat[seat]}) for seat in subjects]


def _id(call: Call | None) -> str | None:
    return str(call.pk) if call else None


FINDINGS: dict[str, Callable[[Step, Record], list[Fact]]] = {
    "message_filtered": _filter,
    "judge_evaluation_completed": _judgments,
}


def message_data(message: Message) -> dict[str, Any]:
    """A message as events carry it; token probabilities are large and are read with the message itself."""
    return {**MessageSerializer(message).data, "logprobs": None}
