"""The job that reads uploads, in a thread of the background worker.

Reading may take minutes, in which ratings and reports are not to wait: it has a thread of its own, which mostly waits
for the limited process.
"""

import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, close_old_connections, connections, transaction

from experiments.library.datasets import reading
from experiments.library.datasets.tidying import Tidier
from experiments.tasks import job_queue

logger = logging.getLogger(__name__)

QUEUE = "datasets"
MOST_QUEUED = 4  # unanswered ones: whoever answers reads all that waits
stop_requested = threading.Event()
tidier = Tidier()


class ReadingThread:
    """A thread that reads all that waits, unless it does so already."""

    def __init__(self, name: str, read_all: Callable[[threading.Event], None]) -> None:
        self._name, self._read_all = name, read_all
        self._is_reading = threading.Lock()

    @property
    def is_reading(self) -> bool:
        return self._is_reading.locked()

    def begin(self) -> None:
        if self._is_reading.acquire(blocking=False):
            threading.Thread(target=self._read, name=self._name).start()

    def _read(self) -> None:
        try:
            close_old_connections()
            self._read_all(stop_requested)
        except DatabaseError as error:
            logger.warning("%s wait for the sweep: %s", self._name, type(error).__name__)
        finally:
            self._is_reading.release()
            connections.close_all()


reader = ReadingThread("datasets", lambda stop: reading.read_all(stop))


def wake() -> None:
    """Enqueue a job once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(wake_now)


def wake_now() -> None:
    job_queue.enqueue(QUEUE, read_uploads, most=MOST_QUEUED, waiting="an upload")


def read_uploads() -> None:
    reader.begin()


def sweep() -> None:
    """Find uploads whose worker has died, or whose job was lost."""
    if reading.sweep():
        wake_now()
    tidier.look()
