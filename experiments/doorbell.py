"""The doorbell of the workers. The database knows what waits: a bell that nobody hears costs seconds, until the sweep
looks.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

import django_rq
from redis.exceptions import RedisError, TimeoutError

logger = logging.getLogger(__name__)

UNHEARD_SECONDS = 5.0  # for which a Redis that stands still is asked nothing


class _Bells:
    """Of this process. beside: the thread that rings. unheard_until: by the clock of the process."""

    beside: ThreadPoolExecutor | None = None
    unheard_until = 0.0


def ring_beside() -> None:
    """From now on a thread of its own rings: whoever drives runs has no time to wait for Redis."""
    _Bells.beside = ThreadPoolExecutor(1, thread_name_prefix="bells")


def beside(work: Callable[[], object]) -> None:
    """Have the thread that rings do it, where there is one; else do it at once."""
    if _Bells.beside is None:
        work()
        return
    try:
        _Bells.beside.submit(copy_context().run, work)
    except RuntimeError:
        logger.warning("the process ends; what waits is found by the sweep")


def ring(queue: str, answer: Callable[..., None] | str, *arguments: Any, enough: int, waiting: str) -> None:
    """Have a worker of the queue call `answer`, a function or the name of one, unless so many bells are `enough` that
    are not answered yet. waiting: what does, for the log, where Redis is away.
    """
    beside(partial(_ring, queue, answer, arguments, enough, waiting))


def is_unheard() -> bool:
    """Whether Redis stood still a moment ago, so that nobody need wait for it again."""
    return time.monotonic() < _Bells.unheard_until


def heard(error: Exception) -> None:
    """Remember that Redis stood still, where that is what the error says: one that is away says so at once."""
    if isinstance(error, TimeoutError):
        _Bells.unheard_until = time.monotonic() + UNHEARD_SECONDS


def _ring(queue: str, answer: Callable[..., None] | str, arguments: tuple[Any, ...], enough: int, waiting: str) -> None:
    if is_unheard():
        logger.warning("%s waits for the sweep: Redis stands still", waiting)
        return
    try:
        bells = django_rq.get_queue(queue)
        if bells.count < enough:
            called: Any = answer
            bells.enqueue(called, *arguments, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        heard(error)
        logger.warning("%s waits for the sweep: Redis is away (%s)", waiting, type(error).__name__)
