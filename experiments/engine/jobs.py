"""The doorbell that a run is waiting, and the worker that answers it."""

import logging
import threading
from collections import Counter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, transaction

from experiments import doorbell
from experiments.collecting import spare_what_is_loaded
from experiments.engine.driver import Driver
from experiments.engine.sweep import sweep, sweep_forever
from experiments.engine.workers import SteadyWorker, beat
from experiments.observing import counting, families

logger = logging.getLogger(__name__)

QUEUE = "engine"
WORKER_SECONDS = 60  # a worker that has not been heard of for so long counts as dead
ENOUGH_BELLS = 32  # unanswered ones: every driver that starts takes all runs that wait, not only the one that rang
stop_requested = threading.Event()


def wake(run_id: UUID) -> None:
    """Ring for a worker once the current transaction is committed.

    A bell that nobody hears costs seconds, not a run: the sweep finds queued runs by itself.
    """
    transaction.on_commit(lambda: _ring(run_id))


def _ring(run_id: UUID) -> None:
    doorbell.ring(QUEUE, drive, str(run_id), enough=ENOUGH_BELLS, waiting=f"run={run_id}")


def driven() -> dict[tuple[str, ...], float]:
    return {(): float(Driver.current.driven if Driver.current else 0)}


def paused() -> dict[tuple[str, ...], float]:
    found = Counter(Driver.current.paused_providers() if Driver.current else ())
    return {(provider,): float(models) for provider, models in found.items()}


def drive(run_id: str) -> None:
    """Drive every run that needs a driver, the one that rang among them, until none is left."""
    logger.debug("run=%s rang", run_id)
    close_old_connections()
    Driver(stop_requested, beat=beat).drive()
    if stop_requested.is_set():
        sweep(wake)  # what was given back goes on elsewhere at once


class EngineWorker(SteadyWorker):
    """One job at a time, in this process: the job is a driver, and a driver drives many runs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.worker_ttl = WORKER_SECONDS

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(wake, settings.SWEEP_SECONDS), name="sweep", daemon=True).start()
        counting.gauge(families.DRIVEN, driven)
        counting.gauge(families.PAUSED, paused)
        spare_what_is_loaded()
        doorbell.ring_beside()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped
