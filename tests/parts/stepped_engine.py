"""The engine on one thread: calls advance while the driver waits for them, and text is saved between its rounds."""

import asyncio
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.db import connection, connections

from experiments.engine import driver, partial_text
from experiments.engine.driver import Driver
from experiments.engine.events import News, group_of
from experiments.engine.executor import CallExecutor, CallResult
from experiments.engine.partial_text import PartialTextWriter
from experiments.tasks.clock import Every
from tests.parts import virtual_time
from tests.parts.virtual_time import VirtualLoop

LOOK_SECONDS = 1.0  # after which a driver looks though nothing has been written: time alone changes little


class MemoryOutlet:
    """Sends to viewers over the channel layer of this process."""

    async def send(self, news: Sequence[News]) -> None:
        layer: Any = get_channel_layer()
        for run_id, message in news:
            await layer.group_send(group_of(run_id), message)

    async def close(self) -> None:
        pass


class SteppedResults(queue.Queue[CallResult]):
    """Waiting for a report runs the loop of the calls until there is one, or so much virtual time has passed."""

    def __init__(self, executor: "SteppedExecutor") -> None:
        super().__init__()
        self._executor = executor
        self._came = asyncio.Event()

    def put(self, item: CallResult, block: bool = True, timeout: float | None = None) -> None:
        super().put(item, block, timeout)
        self._came.set()

    def get(self, block: bool = True, timeout: float | None = None) -> CallResult:
        if block:
            self._executor.between_rounds()
            self._executor.run(self._wait(timeout))
        return super().get(block=False)

    async def _wait(self, seconds: float | None) -> None:
        await asyncio.sleep(0)
        self._came.clear()
        if self.empty():
            try:
                async with asyncio.timeout(seconds):
                    await self._came.wait()
            except TimeoutError:
                return


class SteppedExecutor(CallExecutor):
    def __init__(self, outlet: Any, limits: Any = None) -> None:
        super().__init__(MemoryOutlet())  # the limits that processes share are in Redis
        self._loop.close()
        self._loop = VirtualLoop()
        self.results = SteppedResults(self)
        self.writer: SteppedWriter | None = None

    def run(self, coroutine: Any) -> Any:
        return self._loop.run_until_complete(coroutine)

    def between_rounds(self) -> None:
        virtual_time.work()
        if self.writer:
            self.writer.save_if_due()

    def start(self) -> None:
        self._flusher = self._loop.create_task(self._flush_forever())

    def close(self, timeout: float = 5.0) -> None:
        self.run(self._empty_outbox())
        self.run(self._shut_down())
        self._loop.close()


class SteppedWriter(PartialTextWriter):
    def __init__(self, source: SteppedExecutor) -> None:
        super().__init__(source)
        source.writer = self
        self._last = time.monotonic()

    def start(self) -> None:
        pass

    def close(self) -> None:
        self._save()

    def save_if_due(self) -> None:
        if time.monotonic() - self._last >= partial_text.SAVE_SECONDS:
            self._last = time.monotonic()
            self._save()


@contextmanager
def driving(stop: threading.Event, idle_seconds: float = 60.0) -> Iterator[None]:
    """A driver beside the test: in a thread, or step by step whenever the test waits."""
    if virtual_time.is_virtual():
        with _stepped(Driver(stop)):
            yield
        return
    thread = threading.Thread(target=lambda: (Driver(stop).drive(idle_seconds), connections.close_all()))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(80)


@contextmanager
def beside(step: Callable[[], object], seconds: float = 0.01) -> Iterator[None]:
    """Does something again and again beside the test: in a thread, or a step whenever the test or a driver waits."""
    if virtual_time.is_virtual():
        with virtual_time.working(step):
            yield
        return
    stop = threading.Event()

    def work() -> None:
        try:
            while not stop.wait(seconds):
                step()
        finally:
            connections.close_all()

    thread = threading.Thread(target=work, name="beside")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _stepped(one: Driver) -> Iterator[None]:
    steps = one.steps(float("inf"))
    try:
        with virtual_time.working(partial(next, steps, None)):
            yield
    finally:
        one._stop.set()
        for _ in steps:
            pass


class Look(Every):
    """When a driver looks at the database: in a wait of a minute, which takes no time, it would 300 times in vain."""

    _written: Any = None
    _until = 0.0

    def is_due(self) -> bool:
        """As the driver says; where nothing was written since it has looked, once a second."""
        if not super().is_due():
            return False
        written = _written()
        if written is not None and written == self._written and time.monotonic() < self._until:
            return False
        self._written, self._until = written, time.monotonic() + LOOK_SECONDS
        return True


def _written() -> Any:
    """Another one after each write, whoever has made it; None where that is not told."""
    if connection.vendor != "sqlite" or connection.connection is None:
        return None
    return connection.connection.total_changes, *connection.connection.execute("PRAGMA data_version").fetchone()


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """For one test."""
    monkeypatch.setattr(driver, "Every", lambda seconds: (Look if seconds == driver.LOOK_SECONDS else Every)(seconds))
    monkeypatch.setattr(driver, "CallExecutor", SteppedExecutor)
    monkeypatch.setattr(driver, "PartialTextWriter", SteppedWriter)
    monkeypatch.setattr(sys, "setswitchinterval", lambda seconds: None)
