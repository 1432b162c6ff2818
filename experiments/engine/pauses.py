"""What is recorded of the steps of a run, as its driver reads it again, and its pauses: one is opened, the run is
parked without a lease, and what was said is read.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from experiments.engine.events import emit, reserve_numbers
from experiments.engine.projections import COPIED
from experiments.engine.recording import Lease
from experiments.engine.text import storable
from experiments.models import BatchedCall, Run, SeatedPerson, Step
from experiments.models.run import PAUSES, PERSON
from experiments.models.signals import run_finished
from experiments.tasks import clock
from experiments.workflows.base.events import ExperimentState, ExperimentStopped, PersonAsked
from experiments.workflows.base.steps import Ask, Listen, Outcome

REOPENED = "reopened"  # of a step that is asked again after its failure had ended the run: the newest step by then
SAID = ("text", "action", "edited")  # of a pause that is over, as its workflow hears it


def recorded_outcomes(run: Run) -> dict[str, Outcome]:
    """What is recorded of a run: step keys to outcomes. These steps are never performed again."""
    steps = list(run.steps.exclude(state=Step.State.OPEN).only("key", "kind", "state", "data"))
    outcomes = {step.key: Outcome(**step.data.get(COPIED, {})) for step in steps} | listen_outcomes(steps)
    calls = run.calls.exclude(step__state=Step.State.OPEN).order_by("step", "attempt").select_related("step")
    is_passed_on = bool(run.config.get("judge_sees_reasoning"))
    for call in calls.defer("request", "logprobs", *([] if is_passed_on else ["reasoning"])):
        if COPIED in call.step.data:
            continue
        outcomes[call.step.key] = Outcome(
            ok=call.step.state == Step.State.DONE,
            text=call.text,
            reasoning=call.reasoning if is_passed_on else "",
            finish_reason=call.finish_reason,
            error_kind=call.error_kind,
            error=call.error,
        )
    return outcomes


def started_keys(run: Run) -> set[str]:
    """Every key that was begun, except pauses that are still open, and steps that a resume reopened in vain: the run
    has taken another way since, and has begun others.
    """
    keys = set(run.steps.exclude(kind__in=PAUSES, state=Step.State.OPEN).values_list("key", flat=True))
    is_open = run.steps.filter(state=Step.State.OPEN).exclude(kind__in=PAUSES).values_list("key", "data")
    newest = run.steps.aggregate(newest=Max("pk"))["newest"]
    return keys - {key for key, data in is_open if REOPENED in data and data[REOPENED] < newest}


def listen_outcomes(steps: Collection[Step]) -> dict[str, Outcome]:
    """What was said at pauses that are over, by key."""
    return {
        step.key: Outcome(**{name: step.data[name] for name in SAID if name in step.data})
        for step in steps
        if step.kind in PAUSES and step.state == Step.State.DONE
    }


def open_pause(lease: Lease, pause: Listen) -> bool:
    """Record what is waited for, with its event, once. False when the run has become automatic meanwhile: its mode is
    read under the lock under which it changes.
    """
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        steps = Step.objects.filter(run_id=lease.run_id, key=pause.key)
        is_automatic = pause.may_pass and Run.objects.filter(pk=lease.run_id, mode=Run.Mode.AUTOMATIC).exists()
        if is_automatic and not steps.exists():  # one that is open already is answered, not passed
            return False
        step, is_new = Step.objects.get_or_create(
            run_id=lease.run_id,
            key=pause.key,
            defaults={
                "kind": "offer" if pause.is_offer else "listen",
                "purpose": pause.reason,
                "seat": pause.seat,
                "turn": pause.turn,
                "data": {
                    "default": storable(pause.default),
                    "actions": list(pause.actions),
                    "error": storable(pause.error),
                },
            },
        )
        if is_new:
            emit(lease.run_id, step.pause, fence=lease.fence, announce=lease.announce)
    return True


def ask_person(lease: Lease, ask: Ask, seated: SeatedPerson) -> None:
    """Record what a person in a seat is asked, with its event, once. Only a turn that was reopened begins anew."""
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        until = (clock.now() + timedelta(seconds=seated.seconds)).isoformat()
        shown = [{"role": one.role, "text": storable(one.content)} for one in ask.messages]
        data = {PERSON: {"seat": seated.seat, "until": until, "shown": shown, "schema": ask.schema}}
        place = {"kind": "ask", "purpose": ask.purpose, "seat": ask.seat, "turn": ask.turn}
        same = {**place, "prompt_version": ask.prompt_version, "data": data}
        step, is_new = Step.objects.get_or_create(run_id=lease.run_id, key=ask.key, defaults=same)
        if not is_new:
            if step.state != Step.State.OPEN or REOPENED not in step.data:
                return
            step.data = data
            step.save(update_fields=["data"])
        asked = PersonAsked(key=ask.key, seat=ask.seat, turn=ask.turn, purpose=ask.purpose, until=until)
        emit(lease.run_id, asked, fence=lease.fence, announce=lease.announce)


def answers(lease: Lease, keys: Collection[str]) -> dict[str, Outcome]:
    """What has been said meanwhile at these pauses, and what became of these questions to people."""
    steps = list(Step.objects.filter(run_id=lease.run_id, key__in=keys).exclude(state=Step.State.OPEN))
    return listen_outcomes(steps) | {step.key: Outcome(**step.data[COPIED]) for step in steps if COPIED in step.data}


def park(lease: Lease, keys: Collection[str], *, is_held: bool, batched: Collection[UUID] = ()) -> bool:
    """Let the run wait: its state says so and its lease ends. False when it has just been answered or resumed. batched:
    calls whose answers are waited for.

    What is said, or comes back, takes the same lock, so that no word can fall between the look and the move.
    """
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        if Step.objects.filter(run_id=lease.run_id, key__in=keys).exclude(state=Step.State.OPEN).exists():
            return False
        if BatchedCall.objects.filter(call__in=batched, ended__isnull=False).exists():
            return False
        runs = Run.objects.filter(pk=lease.run_id, state=Run.State.RUNNING)
        if is_held and not keys:
            runs = runs.filter(is_held=True)
        if not runs.update(state=Run.State.WAITING, lease_until=None, waiting_since=Now()):
            return False
        emit(lease.run_id, ExperimentState(state=Run.State.WAITING.value), fence=lease.fence, announce=lease.announce)
    return True


def complete(lease: Lease, run: Run, keys: Collection[str]) -> bool:
    """The run has done what was asked of it: it is completed, until one of its offers is taken up. False when one has
    just been.
    """
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        steps = Step.objects.filter(run_id=lease.run_id, key__in=keys)
        if steps.exclude(state=Step.State.OPEN).exists():
            return False
        reason = steps.order_by("id").values_list("purpose", flat=True).last() or ""
        fields = {"stop_reason": reason, "error": "", "ended": Now(), "lease_until": None}
        if not run.move(Run.State.COMPLETED, from_=(Run.State.RUNNING,), fence=lease.fence, fields=fields):
            return False
        ended = ExperimentStopped(state=Run.State.COMPLETED.value, reason=reason, message="")
        emit(lease.run_id, ended, fence=lease.fence, announce=lease.announce)
        transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))
    return True


def rested(run: Run) -> dict[str, Any]:
    """The fields of a run that goes on now: however long it has waited, or been over, it did not play."""
    since = run.waiting_since or run.ended
    waited = (clock.now() - since).total_seconds() if since else 0.0
    return {"waiting_since": None, "waited_seconds": run.waited_seconds + waited, "lease_until": None}
