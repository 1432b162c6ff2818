"""Code on its way through the sandbox: written by a run, claimed and settled by a worker, and read again by its run.

Claims and renewals are conditional UPDATEs, by the database's clock.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from experiments.engine import wakeups
from experiments.engine.events import Announce, announce_now, emit, reserve_numbers
from experiments.engine.recording import Lease
from experiments.engine.text import storable, storable_data
from experiments.lab.observing import measuring
from experiments.models import Execution, Run, Step
from experiments.tasks import job_queue
from experiments.workflows.base.events import SolutionExecuted, SolutionVerdict
from experiments.workflows.base.steps import Execute, Outcome

QUEUE = "sandbox"
RUN_WAITING = "experiments.sandbox.host.worker.run_waiting"  # by its name: the worker imports this module
MOST_QUEUED = 4  # jobs: each runs all that waits
UNDER_WAY = (Execution.State.WAITING, Execution.State.RUNNING)
AGAIN = {"state": Execution.State.WAITING, "claim": 0, "error_kind": "", "error": "", "ended": None, "results": None}
PASSED_ON = ("name", "verdict", "value", "value_sha256", "error")  # of a result, to the workflow

MOST_CLAIMS = 3  # what has ended so many workers is not run again
FAILED = "sandbox_failed"
UNAVAILABLE = "sandbox_unavailable"
SANDBOX_FAILURES = (FAILED, UNAVAILABLE)


def lease_end() -> object:
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


# --- what a run does with them ---


def begin(lease: Lease, wanted: Sequence[Execute]) -> None:
    """Write down what is to be run, each once, and enqueue a job for the sandbox."""
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)  # nobody else can begin them meanwhile: the run's row is locked
        steps = {one.key: one for one in Step.objects.filter(run_id=lease.run_id, key__in=[one.key for one in wanted])}
        begun = {one.step_id: one for one in Execution.objects.filter(step__in=steps.values()).defer("code", "tests")}
        new = [_step(lease.run_id, one) for one in wanted if one.key not in steps]
        steps |= {step.key: step for step in Step.objects.bulk_create(new)}
        rows = [_execution(lease.run_id, steps[one.key], one) for one in wanted if steps[one.key].pk not in begun]
        Execution.objects.bulk_create(rows)
        over = [one.pk for one in begun.values() if one.state not in UNDER_WAY]
        Execution.objects.filter(pk__in=over, step__state=Step.State.OPEN).update(**AGAIN)
        transaction.on_commit(wake)


def _step(run_id: UUID, wanted: Execute) -> Step:
    place = {"purpose": wanted.purpose, "seat": wanted.seat, "turn": wanted.turn}
    return Step(run_id=run_id, key=wanted.key, kind="execute", **place)


def _execution(run_id: UUID, step: Step, wanted: Execute) -> Execution:
    fields: dict[str, Any] = {
        "turn": wanted.turn or 0,
        "seat": wanted.seat,
        "language": wanted.language,
        "code": storable(wanted.code),
        "entry": wanted.entry,
        "comparison": wanted.comparison,
        "tests": storable_data(list(wanted.tests)),
        "seconds_limit": wanted.seconds,
        "memory_limit": wanted.memory,
        "until_failure": wanted.until_failure,
    }
    return Execution(run_id=run_id, step=step, **fields)


def wake() -> None:
    """Enqueue a job for the sandbox; one that is lost costs seconds, until the sweep."""
    job_queue.enqueue(QUEUE, RUN_WAITING, most=MOST_QUEUED, waiting="an execution")


def outcomes(lease: Lease, keys: Collection[str]) -> dict[str, Outcome]:
    """What came of those that are over meanwhile."""
    over = Execution.objects.filter(run_id=lease.run_id, step__key__in=keys).exclude(state__in=UNDER_WAY)
    return {execution.step.key: outcome_of(execution) for execution in over.select_related("step")}


def recorded(run: Run) -> dict[str, Outcome]:
    """By key, of steps that are not to be taken again."""
    over = run.executions.exclude(step__state=Step.State.OPEN).select_related("step").defer("code", "tests")
    return {execution.step.key: outcome_of(execution) for execution in over}


def outcome_of(execution: Execution) -> Outcome:
    if execution.state != Execution.State.DONE:
        return Outcome(False, error_kind=execution.error_kind, error=execution.error)
    results = [{name: one[name] for name in PASSED_ON if name in one} for one in execution.results or ()]
    found = {"results": results, "complaint": execution.complaint}
    return Outcome(found={**found, "backend": execution.backend, "is_unsafe": execution.is_unsafe})


def cancel(run_id: UUID) -> None:
    """Of a run that has ended. Call inside its last transaction."""
    waiting = Execution.objects.filter(run_id=run_id, state__in=UNDER_WAY)
    waiting.update(state=Execution.State.CANCELLED, ended=timezone.now(), error_kind="stopped", error="The run ended.")


# --- what a worker of the sandbox does with them ---


def take(most: int) -> list[Execution]:
    """At most so many executions that wait, the oldest first; they are this worker's as long as it renews them."""
    taken: list[UUID] = []
    for pk, claim in Execution.objects.claimable().order_by("created").values_list("pk", "claim")[: most * 2]:
        if len(taken) == most:
            break
        mine = Execution.objects.claimable().filter(pk=pk, claim=claim)
        if mine.update(state=Execution.State.RUNNING, claim=F("claim") + 1, lease_until=lease_end()):
            taken.append(pk)
    return list(Execution.objects.filter(pk__in=taken).select_related("step").order_by("created")) if taken else []


def renew(mine: Collection[Execution]) -> set[UUID]:
    """Returns those that are this worker's no more: their run has ended, or another worker has taken them."""
    held = Execution.objects.filter(pk__in=[one.pk for one in mine], state=Execution.State.RUNNING)
    held.update(lease_until=lease_end())
    claims = dict(held.values_list("pk", "claim"))
    return {one.pk for one in mine if claims.get(one.pk) != one.claim}


def settle(execution: Execution, found: dict[str, object], announce: Announce = announce_now) -> bool:
    """Record what the boxes found, with its event, and tell viewers. False when it is not wanted any more."""
    return _end(execution, {**found, "state": Execution.State.DONE}, Step.State.DONE, announce)


def fail(execution: Execution, kind: str, error: str) -> bool:
    """The sandbox could not do its work: that says nothing about the code."""
    fields: dict[str, object] = {"state": Execution.State.FAILED, "error_kind": kind, "error": error}
    return _end(execution, fields, Step.State.FAILED, announce_now)


def give_back(mine: Sequence[Execution]) -> None:
    """So that another worker need not wait for the lease to end."""
    for one in mine:
        waiting = {"state": Execution.State.WAITING, "lease_until": None, "claim": one.claim - 1}
        Execution.objects.filter(pk=one.pk, claim=one.claim, state=Execution.State.RUNNING).update(**waiting)


def put_back(execution: Execution) -> None:
    """Let it be taken once more; how often it was taken stays known."""
    mine = Execution.objects.filter(pk=execution.pk, claim=execution.claim, state=Execution.State.RUNNING)
    mine.update(state=Execution.State.WAITING, lease_until=None)


def _end(execution: Execution, fields: dict[str, object], state: str, announce: Announce) -> bool:
    for name, value in fields.items():
        setattr(execution, name, value)
    execution.ended = timezone.now()
    with transaction.atomic():
        transaction.on_commit(partial(wakeups.wake, wakeups.EXECUTED, str(execution.run_id)))
        emit(execution.run_id, executed_event(execution), announce=announce)  # locks the run first, as its driver does
        mine = Execution.objects.filter(pk=execution.pk, claim=execution.claim, state=Execution.State.RUNNING)
        if not mine.update(**fields, ended=execution.ended, lease_until=None):
            transaction.set_rollback(True)
            return False
        Step.objects.filter(pk=execution.step_id).update(state=state, ended=execution.ended)
        measuring.execution_ended(execution)
    return True


def executed_event(execution: Execution) -> SolutionExecuted:
    """What the event says, and the page shows."""
    results = execution.results or []
    return SolutionExecuted(
        key=execution.step.key,
        execution=str(execution.pk),
        turn=execution.turn,
        seat=execution.seat,
        purpose=execution.step.purpose,
        state=str(execution.state),
        verdicts=[SolutionVerdict(name=result["name"], verdict=result["verdict"]) for result in results],
        passed=sum(result["verdict"] == "passed" for result in results),
        of=len(execution.tests),
        complaint=execution.complaint,
        backend=execution.backend,
        is_unsafe=execution.is_unsafe,
        seconds=execution.seconds,
        error=execution.error,
    )
