"""Who drives a run, from its claim to its last state: the row counts of conditional UPDATEs decide, by the database's
clock.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Coalesce, Now

from accounts import audit
from experiments.engine import batches, executions
from experiments.engine.events import Announce, emit, reserve_numbers
from experiments.engine.recording import Lease, lose_calls, withdraw_handed
from experiments.lab.observing import measuring
from experiments.models import Budget, Run
from experiments.models.run import DRIVEN_STATES
from experiments.models.signals import run_finished
from experiments.workflows.base.events import (
    BudgetReached,
    ExperimentError,
    ExperimentStarted,
    ExperimentState,
    ExperimentStopped,
    StepRefused,
)
from experiments.workflows.base.steps import STOPPED, Ask, End

MANUAL_STOP = STOPPED
GIVEN_UP = "The engine gave the run up while this call was under way."
INTERNAL_ERROR = "internal_error"  # the reason of an end that is no fault of what was asked


class Held(NamedTuple):
    """What a driver needs to know of a run that it holds, again and again."""

    state: str
    fence: int
    mode: str
    is_held: bool
    overrides: dict[str, Any]


def claim(run_id: UUID, announce: Announce) -> Run | None:
    """Take the lease of a claimable run; None when another worker was faster."""
    with transaction.atomic():
        is_abandoned = Run.objects.filter(pk=run_id, state__in=DRIVEN_STATES, lease_until__isnull=False).exists()
        taken = (
            Run.objects.claimable()
            .filter(pk=run_id)
            .update(
                state=Case(When(state=Run.State.QUEUED, then=Value(Run.State.RUNNING.value)), default=F("state")),
                fence=F("fence") + 1,
                lease_until=executions.lease_end(),
                started=Coalesce(F("started"), Now()),
            )
        )
        if not taken:
            return None
        run = Run.objects.select_related("experiment").get(pk=run_id)
        is_first, lost = run.fence == 1, []
        if not is_first:  # who drove it before may have had calls under way
            if not settings.CALLERS:
                withdraw_handed(run)
            lost = lose_calls(run, among=run.calls.filter(handed__isnull=True))
        begun = ExperimentStarted if is_first else ExperimentState
        emit(run.pk, begun(state=run.state), *lost, fence=run.fence, announce=announce)
        measuring.run_taken(run.experiment.workflow, is_first=is_first, is_abandoned=is_abandoned)
        return run


def renew(fences: Mapping[UUID, int]) -> None:
    """Of the runs that are still held under these fences: a driver that was cut off prolongs no lease of another."""
    by_fence: dict[int, list[UUID]] = defaultdict(list)
    for run_id, fence in fences.items():
        by_fence[fence].append(run_id)
    for fence, run_ids in by_fence.items():
        mine = Run.objects.filter(pk__in=run_ids, fence=fence, state__in=DRIVEN_STATES)
        mine.update(lease_until=executions.lease_end())


def held(run_ids: Collection[UUID]) -> dict[UUID, Held]:
    rows = Run.objects.filter(pk__in=run_ids).values_list("pk", *Held._fields)
    return {pk: Held(*fields) for pk, *fields in rows}


def release(run_id: UUID, fence: int) -> None:
    """Give a run back at once, so that another worker need not wait for the lease to end."""
    mine = Run.objects.filter(pk=run_id, fence=fence)
    mine.filter(state=Run.State.RUNNING).update(state=Run.State.QUEUED, lease_until=None)
    mine.filter(state=Run.State.STOPPING).update(lease_until=None)


def finish(
    lease: Lease,
    run: Run,
    end: End,
    *,
    was_halted: bool,
    refused: Ask | None = None,
    budget: BudgetReached | None = None,
) -> None:
    """Move the run to its last state and say so, once. refused: what a limit did not allow to be asked any more.
    budget: the one that had no room for it.
    """
    natural = Run.State.STOPPED if was_halted or end.stopped else Run.State.COMPLETED
    state = Run.State.FAILED if end.failed else natural
    ending = ExperimentError if end.failed else ExperimentStopped
    why = {}
    if refused:
        place = {"key": refused.key, "purpose": refused.purpose, "seat": refused.seat, "turn": refused.turn}
        why = {"refused": StepRefused(**place)}
    reached = {"budget": budget} if budget else {}
    fact = ending(state=state.value, reason=end.reason, message=end.message, **why, **reached)
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        ended = {"stop_reason": end.reason, "error": end.message, "ended": Now(), "lease_until": None}
        driven = (Run.State.RUNNING, Run.State.STOPPING)
        if run.move(state, from_=driven, fence=lease.fence, fields=ended):  # or an earlier try did, unconfirmed
            batches.end_of_run(run.pk)
            withdraw_handed(run)
            lost = lose_calls(run, GIVEN_UP)  # none, but where the run gave up or a commit was not confirmed
            emit(lease.run_id, *lost, fact, fence=lease.fence, announce=lease.announce)
            executions.cancel(lease.run_id)
            if budget:
                left = budget.model_dump(include={"kind", "period", "cost_left", "tokens_left"})
                row = Budget(pk=UUID(budget.id))
                audit.record(audit.Action.BUDGET_REACHED, by=None, of=row, name=budget.name, run=str(run.pk), **left)
        transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))
