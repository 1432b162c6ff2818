"""Drives many runs side by side. The main thread alone decides and records; the executor's loop makes the calls, and a
third thread saves their text as it comes.
"""

import heapq
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F

from accounts import logs
from experiments.engine import leases, wakeups
from experiments.engine.events import Broadcaster, LeaseLost, News, as_message
from experiments.engine.executor import CallExecutor, CallResult, PendingCall, WakeUp
from experiments.engine.handover import Handover
from experiments.engine.leases import INTERNAL_ERROR, MANUAL_STOP, finish
from experiments.engine.partial_text import PartialTextWriter, save
from experiments.engine.recording import Lease, OpenCall
from experiments.engine.requests import Catalogue
from experiments.engine.reservations import Accounts
from experiments.engine.run_execution import RunExecution
from experiments.engine.shared_limits import SharedLimits
from experiments.models import Event, Run
from experiments.models.run import DRIVEN_STATES
from experiments.tasks.clock import Every
from experiments.workflows.base.steps import End
from experiments.workflows.shards import only_shards, without_shards

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.2  # how often stops and newly queued runs are looked for
PAUSE_SECONDS = 0.02  # between two looks at least, however many runs are queued one after the other
CATALOGUE_SECONDS = 2.0  # how old a price may be where a model is asked again and again
CUT_OFF_SECONDS = 1.0  # that calls have to end in when they are broken off
DATABASE_PAUSE = 0.5
SHARDS_AT_ONCE = 2  # of campaigns, claimed at one look: the other workers take their part
SHARE_OF_SHARDS = 0.5  # of the runs that a worker drives at once: people who wait for a reply find room
DATABASE_AWAY = (OperationalError, InterfaceError)


class Driver:
    """Claims runs, performs their missing steps, and returns when it has had nothing to drive for a while."""

    current: "Driver | None" = None  # of this process

    def __init__(self, stop: threading.Event, heartbeat: Callable[[], None] = lambda: None) -> None:
        self._stop, self._heartbeat = stop, heartbeat
        self._executor = CallExecutor(Broadcaster(), None if settings.CALLERS else SharedLimits())
        self._handover = Handover()
        self._wakeups = wakeups.Listener(self._wake, wakeups.QUEUED, wakeups.ANSWERS, wakeups.EXECUTED)
        self._text_writer = PartialTextWriter(self._executor)
        self._catalogue = Catalogue(CATALOGUE_SECONDS)
        self._accounts = Accounts()
        self._executions: dict[UUID, RunExecution] = {}
        self._timers: list[tuple[float, int, UUID, Callable[[], None]]] = []
        self._order = itertools.count()
        self._renewal, self._look = Every(settings.LEASE_SECONDS / 4), Every(LOOK_SECONDS)
        self._is_behind = False  # leases are renewed too late: no more work is taken from those who could do it

    @property
    def driven(self) -> int:
        return len(self._executions)

    def paused_providers(self) -> list[str]:
        """The provider of each model that is asked nothing for a while."""
        return self._executor.paused_providers()

    def drive(self, idle_seconds: float = 1.0) -> None:
        for _ in self.steps(idle_seconds):
            pass

    def steps(self, idle_seconds: float) -> Iterator[None]:
        """The same, a round at a time."""
        Driver.current = self
        self._executor.start()
        self._text_writer.start()
        self._wakeups.start()
        try:
            idle_since = time.monotonic()
            while not self._stop.is_set() and (self._executions or time.monotonic() - idle_since < idle_seconds):
                was_driving = bool(self._executions)
                self._round(self._claim_waiting)
                if was_driving or self._executions:
                    idle_since = time.monotonic()
                yield
            self._drain()
        finally:
            self._give_back()
            self._wakeups.end()
            self._text_writer.close()
            self._executor.close()
            Driver.current = None

    # --- the loop ---

    def _drain(self) -> None:
        """Ask nothing more, and let calls under way come to their end for a while: what they cost is paid already.
        A run without any goes on elsewhere at once.
        """
        until = time.monotonic() + settings.DRAIN_SECONDS
        for execution in self._executions.values():
            execution.is_leaving = True
        self._give_back(only_quiet=True)
        while self._executions and time.monotonic() < until:
            self._round(lambda: None)
            self._give_back(only_quiet=True)
        self._save_cut_off_texts()

    def _round(self, claim: Callable[[], None]) -> None:
        try:
            renewal = self._renewal
            self._is_behind = renewal.due > 0 and time.monotonic() > renewal.due + renewal.seconds
            if renewal.is_due():
                leases.renew({run_id: execution.lease.fence for run_id, execution in self._executions.items()})
                self._heartbeat()
            if self._look.is_due():
                if self._handover.waits:
                    self._wakeups.hasten(self._look)
                self._look_after_runs()
                self._take_answers()
                self._lose_calls()
                claim()
        except DATABASE_AWAY as error:
            self._wait_for_database(error)
        self._fire_timers()
        self._take_results()

    def _is_late(self) -> bool:
        """Whether something is due that is done once a round."""
        return time.monotonic() >= min(self._renewal.due, self._look.due)

    def _take_results(self) -> None:
        """Wait shortly for a result, then take those that have come: the others have to wait when something is due."""
        next_timer = self._timers[0][0] if self._timers else float("inf")
        nap = max(0.001, min(next_timer, self._renewal.due, self._look.due) - time.monotonic())
        try:
            self._settle(self._executor.results.get(timeout=nap))
            while not self._is_late():
                self._settle(self._executor.results.get_nowait())
        except queue.Empty:
            return

    def _fire_timers(self) -> None:
        """Those that are due by now; the rest of them have to wait when something else is due."""
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            _, _, run_id, action = heapq.heappop(self._timers)
            if run_id in self._executions:
                self._guarded(run_id, action)
            if self._is_late():
                break

    def _take_answers(self) -> None:
        """What callers have answered, in turn with what this process was answered."""
        if self._handover.waits:
            for result in self._handover.answers():
                self._executor.results.put(result)

    def _lose_calls(self) -> None:
        """Those of callers that have died."""
        for run_id, call_id in self._handover.lost() if self._handover.waits else ():
            if execution := self._executions.get(run_id):
                self._guarded(run_id, partial(execution.lose, call_id))

    def _settle(self, result: CallResult | WakeUp) -> None:
        if isinstance(result, WakeUp):
            self._take_what_came(result)
        elif execution := self._executions.get(result.run_id):
            self._guarded(result.run_id, lambda: execution.settle(result))

    def _wake(self, channel: str, about: str) -> None:
        """A run waits, a caller has answered, or a sandbox has executed code of a run: look for it at once."""
        self._executor.results.put(WakeUp(channel, about))

    def _take_what_came(self, told: WakeUp) -> None:
        if told.channel == wakeups.QUEUED:
            self._look.due = min(self._look.due, max(time.monotonic(), self._look.due - LOOK_SECONDS + PAUSE_SECONDS))
        elif told.channel == wakeups.ANSWERS:
            try:
                self._take_answers()
            except DATABASE_AWAY as error:
                self._wait_for_database(error)
        elif execution := self._executions.get(run_id := UUID(told.about)):
            self._guarded(run_id, execution.take_executed)

    # --- runs come and go ---

    def _claim_waiting(self) -> None:
        for run_id in self._waiting():
            run = leases.claim(run_id, self._announce)
            if run is None:
                continue
            with logs.about(run=run.pk, experiment=run.experiment_id):
                logger.info("run=%s claimed fence=%s", run.pk, run.fence)
                self._drop(run.pk)
                self._guarded(run.pk, partial(self._begin, run), run)
            if self._is_late():
                break  # the others wait, or another worker claims them

    def _waiting(self) -> list[UUID]:
        """What to claim now: first runs that stand for themselves, then a few shards, however many wait. None is
        driven here: a lease that we were late to renew is renewed, unless somebody else has it.
        """
        room = max(0, settings.RUNS_PER_WORKER - len(self._executions))
        longest_first = (F("lease_until").asc(nulls_first=True), "created")
        others = Run.objects.claimable().exclude(pk__in=list(self._executions))
        waiting = others.order_by(*longest_first).values_list("pk", flat=True)
        if not waiting.exists():
            return []
        alone = list(without_shards(waiting)[:room])
        most = max(1, int(SHARE_OF_SHARDS * settings.RUNS_PER_WORKER))
        driven = sum(execution.is_shard for execution in self._executions.values())
        of_shards = min(SHARDS_AT_ONCE, room - len(alone), most - driven)
        if of_shards <= 0 or self._is_behind:
            return alone
        return [*alone, *only_shards(waiting)[:of_shards]]

    def _begin(self, run: Run) -> None:
        hands = (self._announce, self._submit, self._stop_call, self._later)
        execution = RunExecution(run, *hands, self._catalogue, self._accounts)
        self._executions[run.pk] = execution
        execution.begin()

    def _look_after_runs(self) -> None:
        held = leases.held(list(self._executions))
        for run_id, execution in list(self._executions.items()):
            now = held.get(run_id)
            if now is None or now.fence != execution.lease.fence or now.state not in DRIVEN_STATES:
                self._drop(run_id)  # another driver's, or at rest since a commit that went unconfirmed
            elif now.state == Run.State.STOPPING and not execution.is_cancelled:
                self._guarded(run_id, partial(execution.halt, MANUAL_STOP))
            elif not execution.is_ending:
                self._guarded(run_id, partial(execution.look_after, now))

    def _guarded(self, run_id: UUID, action: Callable[[], None], run: Run | None = None) -> None:
        """The top of a run: whatever goes wrong in it ends it, with its event, and no other run."""
        execution = self._executions.get(run_id)
        subject = execution.run if execution else run
        with logs.about(run=run_id, experiment=subject.experiment_id if subject else None):
            try:
                action()
            except LeaseLost:
                logger.warning("run=%s is driven by another worker now", run_id)
                self._drop(run_id)
            except DATABASE_AWAY as error:
                self._wait_for_database(error)
                if execution := self._executions.get(run_id):
                    self._later(0, run_id, execution.drain_agenda)
            except Exception as bug:
                logger.exception("run=%s failed", run_id)
                self._fail(run_id, bug, run)
            if (execution := self._executions.get(run_id)) and execution.is_over:
                logger.info("run=%s has ended, or waits", run_id)
                execution.is_dropped = True
                del self._executions[run_id]

    def _fail(self, run_id: UUID, bug: Exception, run: Run | None) -> None:
        execution = self._executions.get(run_id)
        run = execution.run if execution else run
        if run is None:
            return
        lease = execution.lease if execution else Lease(run_id, run.fence, self._announce)
        message = f"The engine failed ({type(bug).__name__}). Nothing recorded is lost."
        self._drop(run_id)
        try:
            finish(lease, run, End(INTERNAL_ERROR, failed=True, message=message), was_halted=False)
        except (DatabaseTrouble, LeaseLost):
            logger.exception("run=%s could not be marked as failed; the sweep will find it", run_id)

    def _drop(self, run_id: UUID) -> None:
        """Calls that were handed over go on: the next driver waits for them."""
        if execution := self._executions.pop(run_id, None):
            execution.is_dropped = True
            self._handover.forget(execution.calls)
            for call_id in _made_here(execution):
                self._executor.stop(call_id)

    def _save_cut_off_texts(self) -> None:
        """Break off what is still under way, and save every word of it that came."""
        cut_off = {call_id for execution in self._executions.values() for call_id in _made_here(execution)}
        for call_id in cut_off:
            self._executor.stop(call_id)
        until, texts = time.monotonic() + CUT_OFF_SECONDS, []
        while cut_off and (left := until - time.monotonic()) > 0:
            try:
                result = self._executor.results.get(timeout=left)
            except queue.Empty:
                break
            if isinstance(result, WakeUp):
                continue
            cut_off.discard(result.call_id)
            if result.is_stopped and result.was_sent:
                texts.append((result.call_id, result.completion.text, result.completion.reasoning))
            else:
                self._settle(result)
        self._text_writer.close()  # what it knows is older
        try:
            save(texts)
        except DATABASE_AWAY:
            logger.warning("the last words of %s calls could not be saved", len(texts))

    def _give_back(self, *, only_quiet: bool = False) -> None:
        for run_id, execution in list(self._executions.items()):
            if only_quiet and _made_here(execution):
                continue
            self._drop(run_id)
            try:
                leases.release(run_id, execution.lease.fence)
            except DatabaseTrouble:
                logger.warning("run=%s keeps its lease until it ends", run_id)

    # --- what run executions call ---

    def _submit(self, run_id: UUID, call: OpenCall) -> None:
        if call.is_handed:
            self._handover.wait_for(call.id, run_id)
        else:
            self._executor.submit(_pending(run_id, call))

    def _stop_call(self, call_id: UUID) -> None:
        """In this process or at its caller."""
        self._handover.stop(call_id)
        self._executor.stop(call_id)

    def _later(self, seconds: float, run_id: UUID, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._order), run_id, action))

    def _announce(self, event: Event) -> None:
        self._executor.send(News(event.run_id, as_message(event)))

    def _wait_for_database(self, error: Exception) -> None:
        logger.warning("the database does not answer (%s); trying again", type(error).__name__)
        connection.close()
        time.sleep(DATABASE_PAUSE)


def _made_here(execution: RunExecution) -> list[UUID]:
    """The calls under way that end with this process."""
    return [call_id for call_id, call in execution.calls.items() if not call.is_handed]


def _pending(run_id: UUID, call: OpenCall) -> PendingCall:
    return PendingCall(
        call_id=call.id,
        run_id=run_id,
        endpoint=call.order.endpoint,
        request=call.order.request,
        tokens=call.order.reserved_tokens,
        seat=call.ask.seat,
        turn=call.ask.turn,
        purpose=call.ask.purpose,
        is_shown=call.ask.is_spoken,
    )
