"""The doorbell that a file waits to be made, and the worker that answers it."""

import logging
import threading
import time
from typing import Any

import django_rq
from django.conf import settings
from django.db import DatabaseError, close_old_connections, transaction
from redis.exceptions import RedisError

from experiments.engine.workers import SteadyWorker
from experiments.reports import making

logger = logging.getLogger(__name__)

QUEUE = "reports"
ENOUGH_BELLS = 4  # unanswered ones: the worker makes all files that wait, not only the one that rang
stop_requested = threading.Event()


def ring() -> None:
    """Ring for a worker once the current transaction is committed; a bell that nobody hears costs seconds."""
    transaction.on_commit(_ring)


def _ring() -> None:
    try:
        bells = django_rq.get_queue(QUEUE)
        if bells.count < ENOUGH_BELLS:
            bells.enqueue(make_files, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        logger.warning("a file waits for the sweep: Redis is away (%s)", type(error).__name__)


def make_files() -> None:
    close_old_connections()
    making.make_all(stop_requested)


def sweep_forever(seconds: float) -> None:
    """Find what no bell was rung for: files whose worker has died, or whose bell was lost."""
    while True:
        try:
            if making.sweep():
                _ring()
        except (DatabaseError, OSError) as error:
            logger.warning("the sweep of files could not look: %s", type(error).__name__)
            close_old_connections()
        time.sleep(seconds)


class ReportsWorker(SteadyWorker):
    """One file after the other, in this process."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(settings.SWEEP_SECONDS,), name="sweep", daemon=True).start()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]
