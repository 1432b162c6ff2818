"""Threads of the background worker: what takes minutes has one of its own, so that ratings and reports do not wait."""

import gc
import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, close_old_connections, connections

logger = logging.getLogger(__name__)

QUEUE = "datasets"  # whose jobs are answered in these threads
USUALLY, RARELY = (700, 10, 10), (50_000, 20, 100)  # thresholds of the garbage collector; the first are Python's
stop_requested = threading.Event()


class WorkerThread:
    """A thread that does all that waits, unless it does so already. It mostly waits itself: for a limited process, for
    a receiver, for the database.
    """

    def __init__(self, name: str, do_all: Callable[[threading.Event], None]) -> None:
        self._name, self._do_all = name, do_all
        self._lock = threading.Lock()

    @property
    def is_busy(self) -> bool:
        return self._lock.locked()

    def begin(self) -> None:
        if self._lock.acquire(blocking=False):
            threading.Thread(target=self._work, name=self._name).start()

    def _work(self) -> None:
        try:
            close_old_connections()
            self._do_all(stop_requested)
        except DatabaseError as error:
            logger.warning("%s wait for the sweep: %s", self._name, type(error).__name__)
        finally:
            self._lock.release()
            connections.close_all()


def spare_what_is_loaded(*, rarely: bool = False) -> None:
    """Keep code and models, which stay to the end, from the garbage collector: to look through them again and again
    would find nothing, and stop everything in the process meanwhile. rarely: look through what is made later a
    hundredth as often, too, as `manage.py` does from its start, for a process that makes much at a time and soon ends.
    """
    if not rarely:
        gc.collect()
    gc.freeze()
    gc.set_threshold(*(RARELY if rarely else USUALLY))
