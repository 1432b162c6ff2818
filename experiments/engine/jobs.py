"""The job that drives runs: how it is enqueued, its worker, and the sweep for runs without a driver; and what all our
RQ workers have in common.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import django_rq
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, transaction
from redis.exceptions import RedisError
from rq import SimpleWorker, get_current_job
from rq.registry import StartedJobRegistry

from experiments.engine import wakeups
from experiments.engine.driver import Driver
from experiments.engine.shared_limits import begin_epoch
from experiments.engine.verification import note_heads
from experiments.lab.observing import counting, measuring
from experiments.models import Run
from experiments.models.signals import engine_swept
from experiments.tasks import job_queue
from experiments.tasks.threads import spare_what_is_loaded

logger = logging.getLogger(__name__)

QUEUE = "engine"
WORKER_SECONDS = 60  # a worker without a heartbeat for so long counts as dead
MOST_QUEUED = 32  # jobs: every driver that starts takes all runs that wait, not only the one it was enqueued for
stop_requested = threading.Event()


class BaseWorker(SimpleWorker):
    """A worker whose housekeeping cannot fail.

    RQ remembers which jobs were begun, and looks after those of dead workers. It raises, at every start, when the
    memory of such a job is older than what it knows of it (rq 2.12: "Execution … not found in Redis"). Our jobs
    only wake a worker, so nothing is lost when that memory is emptied.
    """

    current: "BaseWorker | None" = None  # of this process

    def work(self, *args: Any, **kwargs: Any) -> bool:
        BaseWorker.current = self
        counting.begin()  # which tells, too, that this process is there, however long its job takes
        return bool(super().work(*args, **kwargs))

    def set_shutdown_requested_date(self) -> None:
        """Called by the handler of a signal, that is in the middle of anything: what it raises would end that."""
        try:
            super().set_shutdown_requested_date()  # type: ignore[no-untyped-call]  # rq has it untyped
        except (RedisError, OSError):
            logger.warning("Redis is away, and is not told that this worker ends")

    def clean_registries(self) -> None:
        try:
            super().clean_registries()  # type: ignore[no-untyped-call]  # rq has it untyped
        except (ValueError, RedisError) as error:
            logger.warning("what earlier workers left in Redis is cleared away (%s)", error)
            for queue in self.queues:
                queue.connection.delete(StartedJobRegistry(queue=queue).key)
                queue.release_maintenance_lock()  # type: ignore[no-untyped-call]  # rq has it untyped


def heartbeat() -> None:
    """Keep RQ's record of this process's worker alive in the middle of a job: one that is silent for too long counts
    as dead.
    """
    worker = BaseWorker.current
    if get_current_job() is not None and worker is not None:
        job_queue.in_background("heartbeat", partial(send_heartbeat, worker))


def send_heartbeat(worker: BaseWorker) -> None:
    if job_queue.is_circuit_open():
        return
    try:
        pipeline = django_rq.get_connection("engine").pipeline()  # which waits for no longer than a moment
        worker.heartbeat(pipeline=pipeline)
        pipeline.execute()
    except (RedisError, OSError) as error:
        job_queue.note_error(error)
        logger.warning("Redis is away; going on")


def run_looks(*looks: Callable[[], object]) -> None:
    """One round of a sweep. An error in one look ends neither the others nor the thread that sweeps: what is not
    looked for any more would wait for ever.
    """
    for look in looks:
        try:
            look()
        except Exception as error:
            if isinstance(error, DatabaseError | InterfaceError | OSError | RedisError):
                logger.warning("%s.%s could not look: %s", look.__module__, look.__name__, type(error).__name__)
            else:
                logger.exception("%s.%s failed", look.__module__, look.__name__)
            measuring.sweep_failed()
            close_old_connections()


def wake(run_id: UUID) -> None:
    """Enqueue a driver once the current transaction is committed.

    A job that is lost costs seconds, not a run: the sweep finds queued runs by itself.
    """
    transaction.on_commit(lambda: wake_now(run_id))


def wake_now(run_id: UUID) -> None:
    """A driver that is at work takes the run at once; otherwise a worker gets a job."""
    wakeups.wake(wakeups.QUEUED)
    job_queue.enqueue(QUEUE, drive, str(run_id), most=MOST_QUEUED, waiting=f"run={run_id}")


def drive(run_id: str) -> None:
    """Drive every run that needs a driver, this one among them, until none is left."""
    logger.debug("run=%s was enqueued", run_id)
    close_old_connections()
    Driver(stop_requested, heartbeat).drive()
    if stop_requested.is_set():
        sweep()  # what was given back goes on elsewhere at once


def sweep() -> int:
    """Enqueue one driver if any run is claimable: it takes them all. Returns how many there are."""
    waiting = list(Run.objects.claimable().order_by("created").values_list("pk", flat=True))
    if waiting:
        wake(waiting[0])
    measuring.swept(len(waiting))
    return len(waiting)


class EngineWorker(BaseWorker):
    """One job at a time, in this process: the job is a driver, and a driver drives many runs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker_ttl = WORKER_SECONDS

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=_sweep_forever, name="sweep", daemon=True).start()
        counting.gauge(counting.DRIVEN, driven)
        counting.gauge(counting.PAUSED, paused)
        spare_what_is_loaded()
        job_queue.enqueue_in_background()
        job_queue.in_background("limits", begin_epoch)
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped


def driven() -> dict[tuple[str, ...], float]:
    return {(): float(Driver.current.driven if Driver.current else 0)}


def paused() -> dict[tuple[str, ...], float]:
    found = Counter(Driver.current.paused_providers() if Driver.current else ())
    return {(provider,): float(models) for provider, models in found.items()}


def _sweep_forever() -> None:
    while True:
        time.sleep(settings.SWEEP_SECONDS)
        run_looks(sweep, note_heads, tell_others)


def tell_others() -> None:
    """Packages above the engine sweep what is theirs."""
    engine_swept.send(None)
