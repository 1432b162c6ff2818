"""Enqueues the jobs of workers. The database knows what waits: a job that is lost costs seconds, until the sweep."""

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

CIRCUIT_SECONDS = 5.0  # for which a Redis that did not answer in time is asked nothing


class _Background:
    """Of this process. thread: the one that talks to Redis, where drivers do not. waiting: what it is still to do.
    open_until: by the monotonic clock, when the circuit closes again.
    """

    thread: ThreadPoolExecutor | None = None
    lock = threading.Lock()
    waiting: set[Hashable] = set()
    open_until = 0.0


def enqueue_in_background() -> None:
    """From now on a thread of its own talks to Redis: a process that drives runs has no time to wait for it."""
    _Background.thread = ThreadPoolExecutor(1, thread_name_prefix="job-queue")


def enqueue(queue: str, job: Callable[..., None] | str, *arguments: Any, most: int, waiting: str) -> None:
    """Have a worker of the queue call `job`, a function or the name of one, unless `most` jobs wait there already.
    waiting: what waits for it, for the log, where Redis is away.
    """
    in_background((queue, job), partial(_enqueue, queue, job, arguments, most, waiting))


def in_background(key: Hashable, action: Callable[[], object]) -> None:
    """Call something that talks to Redis: by the background thread, where there is one, and not while an action with
    the same key waits.
    """
    if _Background.thread is None:
        action()
        return
    with _Background.lock:
        if key in _Background.waiting:
            return
        _Background.waiting.add(key)
    try:
        _Background.thread.submit(copy_context().run, _run, key, action)
    except RuntimeError:
        with _Background.lock:
            _Background.waiting.discard(key)
        logger.warning("no thread is left to enqueue %s; the sweep finds it", key)


def is_circuit_open() -> bool:
    """Whether Redis did not answer in time a moment ago, so that it need not be waited for again."""
    return time.monotonic() < _Background.open_until


def note_error(error: Exception) -> None:
    """Open the circuit after a timeout; a Redis that is away says so at once."""
    if isinstance(error, exceptions.TimeoutError):
        _Background.open_until = time.monotonic() + CIRCUIT_SECONDS


def _run(key: Hashable, action: Callable[[], object]) -> None:
    with _Background.lock:
        _Background.waiting.discard(key)
    try:
        action()
    except Exception:  # it would be lost in the thread
        logger.exception("Redis could not be told of %s", key)


def _enqueue(queue: str, job: Callable[..., None] | str, arguments: tuple[Any, ...], most: int, waiting: str) -> None:
    if is_circuit_open():
        logger.warning("%s waits for the sweep: Redis stands still", waiting)
        return
    try:
        jobs = django_rq.get_queue(queue)
        if jobs.count < most:
            called: Any = job
            jobs.enqueue(called, *arguments, result_ttl=0, failure_ttl=0)
    except (RedisError, OSError) as error:
        note_error(error)
        logger.warning("%s waits for the sweep: Redis is away (%s)", waiting, type(error).__name__)
