"""A driver's calls that callers make: it waits for their answers, stops them, and finds those whose caller has died."""

import time
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from experiments.engine import spool, wakeups
from experiments.engine.executor import CallResult
from experiments.engine.orders import UNSENT, result_of
from experiments.models import Caller, HandedCall

OVERDUE_SECONDS = 15.0  # that a silent caller has once its lease is over: the database may have been away for all


class Lost(NamedTuple):
    run_id: UUID
    call_id: UUID


class Handover:
    """Used by the driver's thread alone."""

    def __init__(self) -> None:
        self._runs: dict[UUID, UUID] = {}  # of the calls that are waited for
        self._to_stop: set[UUID] = set()
        self._overdue: dict[UUID, float] = {}  # silent callers, and since when we know of it

    @property
    def waits(self) -> bool:
        return bool(self._runs)

    def wait_for(self, call_id: UUID, run_id: UUID) -> None:
        """From now on; it may have been handed over by an earlier driver."""
        self._runs[call_id] = run_id
        wakeups.wake(wakeups.CALLS)

    def forget(self, call_ids: Iterable[UUID]) -> None:
        """The next driver of the run waits for them."""
        for call_id in call_ids:
            self._runs.pop(call_id, None)
            self._to_stop.discard(call_id)

    def stop(self, call_id: UUID) -> None:
        """At the next look. What was sent already ends with what it has said; what was not, is not sent any more."""
        if call_id in self._runs:
            self._to_stop.add(call_id)

    def answers(self) -> list[CallResult]:
        """What came back since the last look. Raises database errors."""
        self._request_stops()
        answered = HandedCall.objects.filter(pk__in=list(self._runs), answered__isnull=False)
        rows = answered.values_list("pk", "answer") if self._runs else ()
        return [result_of(answer, call_id, self._runs.pop(call_id)) for call_id, answer in rows]

    def _request_stops(self) -> None:
        if not self._to_stop:
            return
        mine = HandedCall.objects.filter(pk__in=list(self._to_stop & self._runs.keys()))
        mine.unclaimed().update(answer=UNSENT, answered=Now())
        mine.under_way().update(stop_requested=True)
        self._to_stop.clear()
        wakeups.wake(wakeups.CALLS)

    def lost(self) -> list[Lost]:
        """Calls that wait for the answer of a caller that is dead. Raises database errors."""
        spool.inherit()
        mine = HandedCall.objects.under_way().filter(pk__in=list(self._runs))
        silent = Caller.objects.filter(Q(died=True) | Q(seen_until__lt=Now()), pk__in=mine.values("caller"))
        callers = dict(silent.values_list("pk", "died"))
        now = time.monotonic()
        self._overdue = {caller: self._overdue.get(caller, now) for caller in callers}
        dead = [pk for pk, died in callers.items() if died or now - self._overdue[pk] >= OVERDUE_SECONDS]
        if not dead:
            return []
        rows = mine.filter(caller__in=dead).values_list("pk", flat=True)
        return [Lost(self._runs.pop(call_id), call_id) for call_id in rows]
