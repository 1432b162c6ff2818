"""Which worker runs what: claims and renewals are conditional UPDATEs, by the database's clock."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from experiments import clock
from experiments.engine.events import emit
from experiments.models import Execution, Step
from experiments.observing import measuring
from experiments.workflows.base.events import SolutionExecuted, SolutionVerdict

MOST_CLAIMS = 3  # what has ended so many workers is not run again
FAILED = "sandbox_failed"
UNAVAILABLE = "sandbox_unavailable"
SANDBOX_FAILURES = (FAILED, UNAVAILABLE)


def take(most: int) -> list[Execution]:
    """At most so many executions that wait, the oldest first; they are this worker's as long as it renews them."""
    taken: list[Execution] = []
    for pk, claim in Execution.objects.claimable().order_by("created").values_list("pk", "claim")[: most * 2]:
        if len(taken) == most:
            break
        mine = Execution.objects.claimable().filter(pk=pk, claim=claim)
        if mine.update(state=Execution.State.RUNNING, claim=F("claim") + 1, lease_until=_lease_end()):
            taken.append(Execution.objects.select_related("step").get(pk=pk))
    return taken


def clamp_future_leases() -> None:
    """Leases set while the clock was ahead end no later than one that is set now."""
    running = Execution.objects.filter(state=Execution.State.RUNNING)
    clock.bring_back(running, "lease_until", timedelta(seconds=settings.LEASE_SECONDS))


def renew(mine: Collection[Execution]) -> set[UUID]:
    """Returns those that are this worker's no more: their run has ended, or another worker has taken them."""
    held = Execution.objects.filter(pk__in=[one.pk for one in mine], state=Execution.State.RUNNING)
    held.update(lease_until=_lease_end())
    claims = dict(held.values_list("pk", "claim"))
    return {one.pk for one in mine if claims.get(one.pk) != one.claim}


def settle(execution: Execution, found: dict[str, object]) -> bool:
    """Record what the boxes found, with its event. False when it is not wanted any more."""
    return _end(execution, {**found, "state": Execution.State.DONE}, Step.State.DONE)


def fail(execution: Execution, kind: str, error: str) -> bool:
    """The sandbox could not do its work: that says nothing about the code."""
    return _end(execution, {"state": Execution.State.FAILED, "error_kind": kind, "error": error}, Step.State.FAILED)


def give_back(mine: Sequence[Execution]) -> None:
    """So that another worker need not wait for the lease to end."""
    for one in mine:
        waiting = {"state": Execution.State.WAITING, "lease_until": None, "claim": one.claim - 1}
        Execution.objects.filter(pk=one.pk, claim=one.claim, state=Execution.State.RUNNING).update(**waiting)


def put_back(execution: Execution) -> None:
    """Let it be taken once more; how often it was taken stays known."""
    mine = Execution.objects.filter(pk=execution.pk, claim=execution.claim, state=Execution.State.RUNNING)
    mine.update(state=Execution.State.WAITING, lease_until=None)


def _end(execution: Execution, fields: dict[str, object], state: str) -> bool:
    for name, value in fields.items():
        setattr(execution, name, value)
    execution.ended = timezone.now()
    with transaction.atomic():
        emit(execution.run_id, told(execution))  # locks the run first, as its driver does
        mine = Execution.objects.filter(pk=execution.pk, claim=execution.claim, state=Execution.State.RUNNING)
        if not mine.update(**fields, ended=execution.ended, lease_until=None):
            transaction.set_rollback(True)
            return False
        Step.objects.filter(pk=execution.step_id).update(state=state, ended=execution.ended)
        measuring.execution_ended(execution)
    return True


def told(execution: Execution) -> SolutionExecuted:
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


def _lease_end() -> object:
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)
