"""A caller: the process that holds the connections to providers. It claims calls that drivers have handed over, makes
them, and stores their answers. It writes no run, step, message or event: whoever drives the run does.

Three threads: the executor's loop makes the calls, this one talks to the database, and one writes text to the database
as it comes. A fourth one spools it. So a database that stands still stops no stream.
"""

import asyncio
import logging
import queue
import signal
import threading
import time
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models.functions import Now
from pydantic import ValidationError
from redis.exceptions import RedisError

from accounts.logs import HOST
from experiments.engine import keys, spool, wakeups
from experiments.engine.events import Broadcaster
from experiments.engine.executor import CallExecutor, CallResult, PendingCall, WakeUp
from experiments.engine.jobs import WORKER_SECONDS, BaseWorker, send_heartbeat
from experiments.engine.life_locks import LifeLock
from experiments.engine.orders import answer_text, order_of, unsent
from experiments.engine.partial_text import PartialTextWriter
from experiments.engine.requests import Catalogue, endpoint_of
from experiments.engine.shared_limits import SharedLimits, begin_epoch
from experiments.engine.spool import Spool
from experiments.gateway.errors import BadKey, GatewayError
from experiments.gateway.types import Deadlines
from experiments.lab.observing import counting
from experiments.models import Caller, HandedCall
from experiments.tasks import clock, job_queue
from experiments.tasks.clock import Every
from experiments.tasks.threads import spare_what_is_loaded

logger = logging.getLogger(__name__)

QUEUE = "callers"
POLL_SECONDS = 0.2  # between two looks for calls, and for those that are to be stopped
BEAT_SECONDS, LEASE = 10.0, timedelta(minutes=2)
INHERIT_SECONDS = 0.5
SPOOL_SECONDS = 0.5  # between two pieces of a call's text in the spool; it is synced every other time
DRAIN_SECONDS = Deadlines().total + 60.0  # the longest call, and to write it down
FORGET = timedelta(days=1)  # rows of callers that have ended
CATALOGUE_SECONDS = 2.0
DATABASE_PAUSE = 0.5
DATABASE_TROUBLE = (DatabaseError, InterfaceError)


class CallerExecutor(CallExecutor):
    """Spools what it does, and reports the end of a call once viewers were sent its last words: the message that
    follows comes from another process.
    """

    def __init__(self, spooled: Spool) -> None:
        super().__init__(Broadcaster(), SharedLimits())
        self.answers: dict[UUID, str] = {}  # of calls that have ended, as they are stored
        self._spool = spooled
        self._spooled: dict[UUID, tuple[int, int]] = {}  # how many pieces of each call's text
        self._ended: list[CallResult] = []
        self._has_ended = asyncio.Event()
        self.is_leaving = False  # what ends from now on was broken off, and says nothing

    def stop_unsent(self) -> None:
        self._loop.call_soon_threadsafe(self._stop_unsent)

    def _stop_unsent(self) -> None:
        """In the loop, which alone sends."""
        for call in list(self._pending.values()):
            if not call.is_sent:
                call.is_stopped = True
                self._cancel(call)

    def spool_texts(self) -> None:
        """What came since the last time."""
        pending = list(self._pending.values())
        for call in pending:
            size, seen = (len(call.parts), len(call.thoughts)), self._spooled.get(call.call_id, (0, 0))
            if size != seen:
                words = "".join(call.parts[seen[0] : size[0]]), "".join(call.thoughts[seen[1] : size[1]])
                self._spool.text(call.call_id, *words)
                self._spooled[call.call_id] = size
        for call_id in self._spooled.keys() - {call.call_id for call in pending}:
            del self._spooled[call_id]

    def _note_sending(self, call: PendingCall) -> None:
        self._spool.begun(call.call_id)
        super()._note_sending(call)

    def _report(self, result: CallResult) -> None:
        if self.is_leaving:
            return
        self.answers[result.call_id] = answer = answer_text(result)
        if result.was_sent:
            self._spool.answer(result.call_id, answer)
        self._ended.append(result)
        self._has_ended.set()

    async def _flush_forever(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._flush_seconds):
                    await self._has_ended.wait()
            self._has_ended.clear()
            ended, self._ended = self._ended, []
            await self._flush()
            for result in ended:
                self.results.put(result)


class CallerProcess:
    """Serves until it is asked to stop; then it ends with its last call. leave: end at once, with what there is."""

    def __init__(self, stop: threading.Event, leave: threading.Event) -> None:
        self._stop, self._leave = stop, leave
        self._id = uuid4()
        self._lock = LifeLock(spool.directory(), str(self._id))
        self._lock.take()
        self._spool = Spool(self._id)
        self._executor = CallerExecutor(self._spool)
        self._text_writer = PartialTextWriter(self._executor)
        self._catalogue = Catalogue(CATALOGUE_SECONDS)
        self._mine: dict[UUID, UUID] = {}  # runs by calls that are claimed, and whose answers are not stored
        self._ended: dict[UUID, CallResult] = {}  # of these, those whose answers are there
        self._stopped: set[UUID] = set()  # by their drivers
        self._heartbeat, self._look = Every(BEAT_SECONDS), Every(POLL_SECONDS)
        self._inheritance = Every(INHERIT_SECONDS)
        self._wakeups = wakeups.Listener(lambda *heard: self._executor.results.put(WakeUp(*heard)), wakeups.CALLS)
        self._is_known = False  # our row is in the database
        # Read again and again: put together once, since that takes most of a query's time.
        self._unclaimed = HandedCall.objects.unclaimed().order_by("pk").values_list("pk", flat=True)
        self._claimed = HandedCall.objects.filter(caller=self._id, answered__isnull=True)
        self._wanted = self._claimed.values_list("pk", "stop_requested")

    @property
    def calls(self) -> int:
        return len(self._mine)

    def paused_providers(self) -> list[str]:
        return self._executor.paused_providers()

    def serve(self) -> None:
        done = threading.Event()
        spooler = threading.Thread(target=self._spool_forever, args=[done], name="spool", daemon=True)
        self._executor.start()
        self._text_writer.start()
        self._wakeups.start()
        spooler.start()
        try:
            while not self._stop.is_set():
                self._round()
            until, self._heartbeat.due = time.monotonic() + DRAIN_SECONDS, 0.0
            while self._mine and time.monotonic() < until and not self._leave.is_set():
                self._executor.stop_unsent()
                self._round()
        finally:
            self._wakeups.end()
            self._text_writer.close()
            done.set()
            spooler.join()
            self._end()

    def _end(self) -> None:
        """With nothing left, the spool is needed no more; else its heir takes what is in it."""
        self._executor.is_leaving, is_known = True, False
        if not self._mine:
            with suppress(*DATABASE_TROUBLE), transaction.atomic():
                HandedCall.objects.under_way().filter(caller=self._id).update(caller=None)  # claimed, and not begun
                Caller.objects.filter(pk=self._id).update(died=True)
                is_known = True
        self._executor.close()
        if is_known:
            self._spool.remove()
        self._lock.give_back(is_known=is_known)

    def _round(self) -> None:
        self._take_results()
        try:
            if self._heartbeat.is_due() or not self._is_known:
                self._beat()
            if self._inheritance.is_due():
                spool.inherit()
            self._store()
            if self._look.is_due():
                self._wakeups.hasten(self._look)
                if not self._stop.is_set():
                    self._claim()
                self._look_after_mine()
        except DATABASE_TROUBLE as error:
            logger.warning("the database does not answer (%s); trying again", type(error).__name__)
            connection.close()
            self._heartbeat.due = 0.0
            time.sleep(DATABASE_PAUSE)

    def _take_results(self) -> None:
        """Wait until the next look, a result or a wake-up."""
        results, seconds = self._executor.results, max(0.001, self._look.due - time.monotonic())
        with suppress(queue.Empty):
            result = results.get(timeout=seconds)
            while True:
                if isinstance(result, WakeUp):
                    self._look.due = 0.0
                else:
                    self._ended[result.call_id] = result
                result = results.get_nowait()

    # --- in the database ---

    def _beat(self) -> None:
        row = {"host": HOST, "seen_until": clock.ahead(LEASE), "is_draining": self._stop.is_set()}
        if not Caller.objects.filter(pk=self._id).update(**row):
            Caller.objects.create(id=self._id, **row)
            Caller.objects.filter(seen_until__lt=clock.ago(FORGET), calls__isnull=True).delete()
        self._is_known = True
        if (worker := BaseWorker.current) is not None:
            job_queue.in_background("heartbeat", lambda: send_heartbeat(worker))
        spool.inherit_orphans()

    def _claim(self) -> None:
        room = settings.CALLS_PER_CALLER - len(self._mine)
        if room > 0 and (ids := list(self._unclaimed[:room])):
            HandedCall.objects.unclaimed().filter(pk__in=ids).update(caller=self._id)

    def _look_after_mine(self) -> None:
        """Begin what was claimed. Stop what is to be stopped, and what the drivers have given up."""
        wanted = dict(self._wanted.all())
        if new := wanted.keys() - self._mine.keys():
            for call_id, run_id, order in self._claimed.filter(pk__in=new).values_list("pk", "call__run", "order"):
                self._begin(call_id, run_id, order)
        for call_id in self._mine.keys() - self._ended.keys() - self._stopped:
            if wanted.get(call_id, True):
                self._stopped.add(call_id)
                self._executor.stop(call_id)

    def _begin(self, call_id: UUID, run_id: UUID, order: str) -> None:
        """Where the database goes away meanwhile, the next look begins it."""
        try:
            pending = self._pending(call_id, run_id, order)
        except keys.NoKey as error:
            self._fail(call_id, run_id, BadKey(str(error)))
        except ValidationError:
            logger.exception("call=%s cannot be read", call_id)
            self._fail(call_id, run_id, GatewayError("The caller could not read this call."))
        else:
            self._mine[call_id] = run_id
            self._executor.submit(pending)

    def _pending(self, call_id: UUID, run_id: UUID, text: str) -> PendingCall:
        order = order_of(text)
        model, _price = self._catalogue.entry(order.model_id)
        endpoint = endpoint_of(model, keys.key_of_order(model.provider, order.key_id))
        place = (order.seat, order.turn, order.purpose, order.is_shown)
        return PendingCall(call_id, run_id, endpoint, order.request, order.tokens, *place)

    def _fail(self, call_id: UUID, run_id: UUID, error: GatewayError) -> None:
        self._mine[call_id] = run_id
        result = self._ended[call_id] = unsent(call_id, run_id, error)
        self._executor.answers[call_id] = answer_text(result)

    def _store(self) -> None:
        """Only the rows that are still ours, and have no answer. What was not sent goes back when we end."""
        if not self._ended:
            return
        with transaction.atomic():
            for call_id, result in sorted(self._ended.items()):
                mine = HandedCall.objects.filter(pk=call_id, caller=self._id, answered__isnull=True)
                if result.is_stopped and not result.was_sent and call_id not in self._stopped:
                    mine.update(caller=None)
                else:
                    mine.update(answer=self._executor.answers[call_id], answered=Now())
        self._spool.settled(self._ended)
        for call_id in self._ended:
            del self._mine[call_id], self._executor.answers[call_id]
            self._stopped.discard(call_id)
        self._ended.clear()
        wakeups.wake(wakeups.ANSWERS)

    def _spool_forever(self, done: threading.Event) -> None:
        is_ending, is_odd = False, False
        while not is_ending:
            is_ending, is_odd = done.wait(SPOOL_SECONDS), not is_odd
            try:
                self._executor.spool_texts()
            except Exception:  # one that ends this thread would lose the text of all calls to come
                logger.exception("text of calls under way could not be spooled")
            if is_odd or is_ending:
                self._spool.sync()


class CallerWorker(BaseWorker):
    """A worker without jobs: what it does is in the database."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker_ttl = WORKER_SECONDS
        self._drain, self._leave = threading.Event(), threading.Event()

    def work(self, *args: Any, **kwargs: Any) -> bool:
        BaseWorker.current = self
        self._install_signal_handlers()  # type: ignore[no-untyped-call]  # rq has it untyped
        signal.signal(signal.SIGHUP, self.request_stop)
        self.register_birth()  # type: ignore[no-untyped-call]  # rq has it untyped
        spare_what_is_loaded()
        job_queue.enqueue_in_background()
        job_queue.in_background("limits", begin_epoch)
        process = CallerProcess(self._drain, self._leave)
        counting.gauge(counting.PAUSED, lambda: _paused(process))
        process.serve()
        with suppress(RedisError, OSError):
            self.register_death()  # type: ignore[no-untyped-call]  # rq has it untyped
        return True

    def request_stop(self, signum: int, frame: Any) -> None:
        """The second signal ends it at once, but for SIGHUP, which only says that the supervisor has ended."""
        if self._drain.is_set() and signum != signal.SIGHUP:
            self._leave.set()
        self._drain.set()


def _paused(process: CallerProcess) -> dict[tuple[str, ...], float]:
    return {(provider,): float(models) for provider, models in Counter(process.paused_providers()).items()}
