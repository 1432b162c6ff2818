"""The job that drives runs: how it is enqueued, its worker, and the sweep for runs without a driver."""

import logging
import threading
import time
from collections import Counter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, transaction

from experiments.engine.driver import Driver
from experiments.engine.workers import BaseWorker, heartbeat, run_looks
from experiments.lab.observing import counting, measuring
from experiments.models import Run
from experiments.models.signals import engine_swept
from experiments.tasks import job_queue
from experiments.tasks.collecting import spare_what_is_loaded

logger = logging.getLogger(__name__)

QUEUE = "engine"
WORKER_SECONDS = 60  # a worker without a heartbeat for so long counts as dead
MOST_QUEUED = 32  # jobs: every driver that starts takes all runs that wait, not only the one it was enqueued for
stop_requested = threading.Event()


def wake(run_id: UUID) -> None:
    """Enqueue a driver once the current transaction is committed.

    A job that is lost costs seconds, not a run: the sweep finds queued runs by itself.
    """
    transaction.on_commit(lambda: wake_now(run_id))


def wake_now(run_id: UUID) -> None:
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
        run_looks(sweep, tell_others)


def tell_others() -> None:
    """Packages above the engine sweep what is theirs."""
    engine_swept.send(None)
