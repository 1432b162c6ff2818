"""Who drives a run: claims and renewals are conditional UPDATEs whose row count decides, by the database's clock."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Coalesce, Now

from experiments import clock
from experiments.engine.events import Announce, Fact, emit
from experiments.engine.recording import lose_calls
from experiments.models import Run
from experiments.models.run import DRIVEN_STATES
from experiments.observing import measuring


class Held(NamedTuple):
    """What a driver needs to know of a run that it holds, again and again."""

    state: str
    fence: int
    mode: str
    is_held: bool
    overrides: dict[str, Any]


def lease_end() -> object:
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


def shorten() -> None:
    """Those that were set while the clock was ahead: nobody who died then holds a run for longer than a lease lasts."""
    driven = Run.objects.filter(state__in=DRIVEN_STATES)
    clock.bring_back(driven, "lease_until", timedelta(seconds=settings.LEASE_SECONDS))


def claim(run_id: UUID, announce: Announce) -> Run | None:
    """Take the lease of a claimable run; None when somebody else was faster."""
    with transaction.atomic():
        is_abandoned = Run.objects.filter(pk=run_id, state__in=DRIVEN_STATES, lease_until__isnull=False).exists()
        taken = (
            Run.objects.claimable()
            .filter(pk=run_id)
            .update(
                state=Case(When(state=Run.State.QUEUED, then=Value(Run.State.RUNNING.value)), default=F("state")),
                fence=F("fence") + 1,
                lease_until=lease_end(),
                started=Coalesce(F("started"), Now()),
            )
        )
        if not taken:
            return None
        run = Run.objects.select_related("experiment").get(pk=run_id)
        begun = "experiment_started" if run.fence == 1 else "experiment_state"
        emit(run.pk, Fact(begun, {"state": run.state}), *lose_calls(run), fence=run.fence, announce=announce)
        measuring.run_taken(run.experiment.workflow, is_first=run.fence == 1, is_abandoned=is_abandoned)
        return run


def renew(fences: Mapping[UUID, int]) -> None:
    """Of the runs that are held under these fences still: a driver that was cut off for long prolongs nobody else's."""
    by_fence: dict[int, list[UUID]] = defaultdict(list)
    for run_id, fence in fences.items():
        by_fence[fence].append(run_id)
    for fence, run_ids in by_fence.items():
        mine = Run.objects.filter(pk__in=run_ids, fence=fence, state__in=DRIVEN_STATES)
        mine.update(lease_until=lease_end())


def held(run_ids: Collection[UUID]) -> dict[UUID, Held]:
    rows = Run.objects.filter(pk__in=run_ids).values_list("pk", *Held._fields)
    return {pk: Held(*fields) for pk, *fields in rows}


def release(run_id: UUID, fence: int) -> None:
    """Give a run back at once, so that another worker need not wait for the lease to end."""
    mine = Run.objects.filter(pk=run_id, fence=fence)
    mine.filter(state=Run.State.RUNNING).update(state=Run.State.QUEUED, lease_until=None)
    mine.filter(state=Run.State.STOPPING).update(lease_until=None)
