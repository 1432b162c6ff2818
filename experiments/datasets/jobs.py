"""The doorbell that an upload waits to be read, and the thread of the background worker that answers it.

Reading may take minutes, in which ratings and reports are not to wait: it has a thread of its own, which mostly waits
for the limited process.
"""

import logging
import threading

import django_rq
from django.db import DatabaseError, close_old_connections, connections, transaction
from redis.exceptions import RedisError

from experiments.datasets import reading

logger = logging.getLogger(__name__)

QUEUE = "datasets"
ENOUGH_BELLS = 4  # unanswered ones: whoever answers reads all that waits
stop_requested = threading.Event()
_is_reading = threading.Lock()


def ring() -> None:
    """Ring for a worker once the current transaction is committed; a bell that nobody hears costs seconds."""
    transaction.on_commit(ring_now)


def ring_now() -> None:
    try:
        bells = django_rq.get_queue(QUEUE)
        if bells.count < ENOUGH_BELLS:
            bells.enqueue(read_uploads, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        logger.warning("an upload waits for the sweep: Redis is away (%s)", type(error).__name__)


def read_uploads() -> None:
    """Begin to read in the thread, unless it reads already."""
    if _is_reading.acquire(blocking=False):
        threading.Thread(target=_read_all, name="datasets").start()


def sweep() -> None:
    """Find what no bell was rung for: uploads whose worker has died, or whose bell was lost."""
    if reading.sweep():
        ring_now()


def _read_all() -> None:
    try:
        close_old_connections()
        reading.read_all(stop_requested)
    except DatabaseError as error:
        logger.warning("uploads wait for the sweep: %s", type(error).__name__)
    finally:
        _is_reading.release()
        connections.close_all()
