"""The job that makes files, and its worker, which performs those of datasets and ratings as well."""

import logging
import threading
import time
from typing import Any

from django.conf import settings
from django.db import close_old_connections, transaction

from experiments.engine.workers import BaseWorker, run_looks
from experiments.library.datasets import reading as datasets
from experiments.models.signals import swept
from experiments.runs.reports import making
from experiments.tasks import job_queue, threads

logger = logging.getLogger(__name__)

QUEUE = "reports"
MOST_QUEUED = 4  # each makes all files that wait, not only the one that it was enqueued for
stop_requested = threading.Event()


def wake() -> None:
    """Enqueue a job once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(_wake_now)


def _wake_now() -> None:
    job_queue.enqueue(QUEUE, make_files, most=MOST_QUEUED, waiting="a file")


def make_files() -> None:
    close_old_connections()
    making.make_all(stop_requested)


def sweep_forever(seconds: float) -> None:
    """Find work whose worker has died, or whose job was lost."""
    while True:
        run_looks(sweep_files, datasets.sweep, sweep_receivers)
        time.sleep(seconds)


def sweep_files() -> None:
    if making.sweep():
        _wake_now()


def sweep_receivers() -> None:
    """Whoever else wants to look, above: what goes wrong there ends nothing here."""
    for receiver, answer in swept.send_robust(None):
        if isinstance(answer, Exception):
            logger.warning("a receiver of the sweep failed: %s", getattr(receiver, "__name__", ""), exc_info=answer)
            close_old_connections()


class ReportsWorker(BaseWorker):
    """One piece of work after the other, in this process; datasets are read in a thread beside it."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(settings.SWEEP_SECONDS,), name="sweep", daemon=True).start()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        threads.stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped
