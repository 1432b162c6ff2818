"""What a contest of coding finds becomes rows, in the transaction of its step and its event."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from experiments.engine.events import Fact
from experiments.models import Call, Cycle, Judgment, Participant, Step
from experiments.serializers import JudgmentSerializer
from experiments.signals import cycles_changed
from experiments.workflows.steps import Record

LONGEST_TITLE = 200


def begun(step: Step, record: Record) -> list[Fact]:
    """The cycle, with who takes part in it: models by their seats, as they are seated now and for ever."""
    slugs = _slugs(step.run_id)
    Cycle.objects.create(
        run_id=step.run_id,
        turn=record.data["turn"],
        setter=record.data["setter"],
        contestants=[[seat, slugs[seat]] for seat in record.data["coders"]],
    )
    return _kept(step, record)


def problem_set(step: Step, record: Record) -> list[Fact]:
    data = record.data
    _cycle(step, record).update(title=data["title"][:LONGEST_TITLE], fingerprint=data["fingerprint"])
    return _kept(step, record)


def void(step: Step, record: Record) -> list[Fact]:
    _cycle(step, record).update(state=Cycle.State.VOID, reason=record.data["reason"], ended=timezone.now())
    return _kept(step, record)


def rated(step: Step, record: Record) -> list[Fact]:
    _cycle(step, record).update(state=Cycle.State.RATED, found=dict(record.data), ended=timezone.now())
    transaction.on_commit(partial(cycles_changed.send, sender=None))
    return _kept(step, record)


def judged(step: Step, record: Record) -> list[Fact]:
    """One judge's vote on one solution; or why there is none."""
    data = record.data
    calls = Call.objects.filter(run_id=step.run_id, step__key=record.source).select_related("model")
    call = calls.order_by("attempt").last()
    names = ("subject", "judge_seat", "scores", "unscored_reason", "rationale", "flags")
    judgment = Judgment.objects.create(
        run_id=step.run_id,
        step=step,
        call=call,
        turn=data["turn"],
        judge=call.model.label if call else "",
        **{name: data[name] for name in names},
    )
    told = {"key": data["key"], "turn": data["turn"], "judgment": dict(JudgmentSerializer(judgment).data)}
    return _kept(step, record, told)


def kept(step: Step, record: Record) -> list[Fact]:
    return _kept(step, record)


def _kept(step: Step, record: Record, data: dict[str, Any] | None = None) -> list[Fact]:
    step.data = dict(record.data) if data is None else data
    step.save(update_fields=["data"])
    return [Fact(record.kind, step.data)]


def _cycle(step: Step, record: Record) -> Any:
    return Cycle.objects.filter(run_id=step.run_id, turn=record.data["turn"])


def _slugs(run_id: UUID) -> dict[str, str]:
    seated = Participant.objects.filter(experiment__runs=run_id).select_related("model")
    return {participant.seat: participant.model.slug for participant in seated}


FINDINGS: dict[str, Callable[[Step, Record], list[Fact]]] = {
    "pool_checked": kept,
    "cycles_planned": kept,
    "cycle_begun": begun,
    "problem_set": problem_set,
    "cycle_void": void,
    "solution_judged": judged,
    "cycle_rated": rated,
}
