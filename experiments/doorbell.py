"""The doorbell of the workers. The database knows what waits: a bell that nobody hears costs seconds, until the sweep
looks.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

import django_rq
from redis import exceptions
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

STILL_SECONDS = 5.0  # for which a Redis that stands still is asked nothing


class _Ringer:
    """Of this process. thread: the one that rings, where drivers do not. waiting: what it is still to do. still_until:
    by the clock of the process.
    """

    thread: ThreadPoolExecutor | None = None
    lock = threading.Lock()
    waiting: set[Hashable] = set()
    still_until = 0.0


def ring_beside() -> None:
    """From now on a thread of its own rings: whoever drives runs has no time to wait for Redis."""
    _Ringer.thread = ThreadPoolExecutor(1, thread_name_prefix="bells")


def ring(queue: str, answer: Callable[..., None] | str, *arguments: Any, enough: int, waiting: str) -> None:
    """Have a worker of the queue call `answer`, a function or the name of one, unless so many bells are `enough` that
    are not answered yet. waiting: what does, for the log, where Redis is away.
    """
    tell((queue, answer), partial(_ring, queue, answer, arguments, enough, waiting))


def tell(what: Hashable, telling: Callable[[], object]) -> None:
    """Tell Redis something: by the thread that rings, where there is one, and not while the same waits to be told."""
    if _Ringer.thread is None:
        telling()
        return
    with _Ringer.lock:
        if what in _Ringer.waiting:
            return
        _Ringer.waiting.add(what)
    try:
        _Ringer.thread.submit(copy_context().run, _told, what, telling)
    except RuntimeError:
        with _Ringer.lock:
            _Ringer.waiting.discard(what)
        logger.warning("no thread is left to tell of %s; the sweep finds it", what)


def stands_still() -> bool:
    """Whether Redis did a moment ago, so that nobody need wait for it again."""
    return time.monotonic() < _Ringer.still_until


def note(error: Exception) -> None:
    """Remember that Redis stands still, where that is what the error says: one that is away says so at once."""
    if isinstance(error, exceptions.TimeoutError):
        _Ringer.still_until = time.monotonic() + STILL_SECONDS


def _told(what: Hashable, telling: Callable[[], object]) -> None:
    with _Ringer.lock:
        _Ringer.waiting.discard(what)
    try:
        telling()
    except Exception:  # nobody else would hear of it
        logger.exception("Redis could not be told of %s", what)


def _ring(queue: str, answer: Callable[..., None] | str, arguments: tuple[Any, ...], enough: int, waiting: str) -> None:
    if stands_still():
        logger.warning("%s waits for the sweep: Redis stands still", waiting)
        return
    try:
        bells = django_rq.get_queue(queue)
        if bells.count < enough:
            called: Any = answer
            bells.enqueue(called, *arguments, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        note(error)
        logger.warning("%s waits for the sweep: Redis is away (%s)", waiting, type(error).__name__)
