"""The clock of tests that start no process: time passes as it does, and skips ahead where a test would only wait.

`time.monotonic`, `time.time`, `time.sleep`, Django's `timezone.now`, the clock in `experiments.tasks` and the
database's `Now()` go by it. System tests never skip ahead, so that for them it is the machine's clock.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, tzinfo
from typing import Any

from django.db import connection as default_connection
from django.db.models.functions import Now
from django.utils import timezone

from experiments.tasks import clock

_monotonic, _time, _sleep = time.monotonic, time.time, time.sleep
MOST_SECONDS = 7 * 86_400.0  # that one test skips: one that goes further waits for something that never happens


class _Skipped:
    """seconds: in this test. total: in all tests of the process, as a monotonic clock never goes back. workers: what
    goes on beside the test while it waits. at_work: those of them that are in the middle of a step.
    """

    seconds = total = 0.0
    is_on = False
    workers: list[Callable[[], None]] = []
    at_work: list[Callable[[], None]] = []


class Stuck(AssertionError):
    """Nothing can happen any more, however long the test waits."""


def skip(seconds: float) -> None:
    """Let so much time pass at once. Raises Stuck."""
    _Skipped.seconds += seconds
    _Skipped.total += seconds
    if _Skipped.seconds > MOST_SECONDS:
        raise Stuck(f"the test has waited {_Skipped.seconds:.0f} seconds of virtual time")


def start(*, virtual: bool) -> None:
    """Begin a test. virtual: `time.sleep` returns at once and the clock is ahead by what it was asked for."""
    _Skipped.seconds, _Skipped.is_on = 0.0, virtual
    _Skipped.workers, _Skipped.at_work = [], []
    clock._Reading.moment = None


def is_virtual() -> bool:
    return _Skipped.is_on


class _Datetime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(seconds=_Skipped.seconds)


def _now_in_sqlite(self: Now, compiler: Any, connection: Any, **extra: Any) -> Any:
    template = f"STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f', 'NOW', '+{_Skipped.seconds:.6f} seconds')"
    return self.as_sql(compiler, connection, template=template, **extra)


def _now_in_postgresql(self: Now, compiler: Any, connection: Any, **extra: Any) -> Any:
    template = f"(STATEMENT_TIMESTAMP() + INTERVAL '{_Skipped.seconds:.6f} seconds')"
    return self.as_sql(compiler, connection, template=template, **extra)


_read = clock.read


def _read_ahead() -> datetime:
    """SQLite is told the time by this process, of which the clock is ahead already."""
    ahead = 0.0 if default_connection.vendor == "sqlite" else _Skipped.seconds
    return _read() + timedelta(seconds=ahead)


def _virtual_sleep(seconds: float) -> None:
    if not _Skipped.is_on:
        _sleep(seconds)
        return
    until = time.monotonic() + seconds
    work()
    skip(max(0.0, until - time.monotonic()))


def work() -> None:
    """One step of each worker beside the test but the one that waits itself."""
    for step in [step for step in _Skipped.workers if step not in _Skipped.at_work]:
        _Skipped.at_work.append(step)
        try:
            step()
        finally:
            _Skipped.at_work.remove(step)


@contextmanager
def working(step: Callable[[], None]) -> Iterator[None]:
    """Let something go on whenever the test sleeps, or a driver waits: it does one step each time."""
    _Skipped.workers.append(step)
    try:
        yield
    finally:
        _Skipped.workers.remove(step)


def install() -> None:
    """Once for the process."""
    time.monotonic = lambda: _monotonic() + _Skipped.total
    time.time = lambda: _time() + _Skipped.seconds
    time.sleep = _virtual_sleep
    timezone.datetime = _Datetime  # type: ignore[misc]
    clock.datetime = _Datetime  # type: ignore[misc]
    clock.read = _read_ahead
    Now.as_sqlite = _now_in_sqlite  # type: ignore[method-assign]
    Now.as_postgresql = _now_in_postgresql  # type: ignore[method-assign]


class _SkippingSelector(selectors.DefaultSelector):
    """Waits for nothing but work in threads: where no file is ready, the next timer is due at once."""

    threads = 0

    def select(self, timeout: float | None = None) -> Any:
        if self.threads or not _Skipped.is_on:
            return super().select(timeout)
        ready = super().select(0)
        if not ready and timeout:
            skip(timeout)
        return ready if ready or timeout is not None else self._stuck()

    def _stuck(self) -> Any:
        raise Stuck("the loop has no timer, and waits for nothing that could come")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose timers cost no time."""

    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return time.monotonic()

    def run_in_executor(self, *args: Any) -> Any:
        future = super().run_in_executor(*args)
        self._skipping.threads += 1
        future.add_done_callback(self._thread_done)
        return future

    async def shutdown_default_executor(self, *args: Any) -> None:
        self._skipping.threads += 1
        await super().shutdown_default_executor(*args)
        self._skipping.threads -= 1

    def _thread_done(self, _future: Any) -> None:
        self._skipping.threads -= 1
