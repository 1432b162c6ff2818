"""How a request is carried out: by one thread, from the first middleware to the last, which stays for the next one.

Left to itself, Django goes to and fro between the event loop and a thread wherever middleware of the one kind follows
upon the other, and takes a new thread, with a new connection to the database, for each request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest, HttpResponseBase

KEPT = 2  # threads of a process that wait for a request for as long as it takes
IDLE_SECONDS = 5.0  # for which every other one does


class Seat(ThreadPoolExecutor):
    """A thread, with its connection to the database. idle_since: by the clock of the event loop."""

    def __init__(self) -> None:
        super().__init__(max_workers=1, thread_name_prefix="request")
        self.idle_since = 0.0
        self.under_way: set[Future[Any]] = set()

    def submit(self, *args: Any, **kwargs: Any) -> "Future[Any]":
        future = super().submit(*args, **kwargs)
        self.under_way.add(future)
        future.add_done_callback(self.under_way.discard)
        return future

    def leave(self) -> None:
        self.submit(connections.close_all)
        self.shutdown(wait=False)


class Seats:
    """As many threads as there are requests at the same time. The one that was used last is used next, so that few are
    in use; those that were not for a while go. Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._idle: list[Seat] = []
        self._clearing: asyncio.TimerHandle | None = None

    @contextmanager
    def taken(self) -> Iterator[Seat]:
        """One for a request."""
        seat = self._idle.pop() if self._idle else Seat()
        try:
            yield seat
        finally:
            self._take_back(seat)

    def _take_back(self, seat: Seat) -> None:
        """Once nothing goes on in it: a request that was broken off leaves its thread where it was."""
        loop = asyncio.get_running_loop()
        if unfinished := next(iter(seat.under_way.copy()), None):
            unfinished.add_done_callback(lambda _: _soon(loop, self._take_back, seat))
            return
        seat.idle_since = loop.time()
        self._idle.append(seat)
        if len(self._idle) > KEPT and self._clearing is None:
            self._clearing = loop.call_later(IDLE_SECONDS, self._clear)

    def _clear(self) -> None:
        loop, self._clearing = asyncio.get_running_loop(), None
        while len(self._idle) > KEPT and self._idle[0].idle_since <= loop.time() - IDLE_SECONDS:
            self._idle.pop(0).leave()
        if len(self._idle) > KEPT:
            self._clearing = loop.call_later(IDLE_SECONDS, self._clear)


def _soon(loop: asyncio.AbstractEventLoop, do: Callable[[Seat], None], seat: Seat) -> None:
    with suppress(RuntimeError):  # the server has ended meanwhile
        loop.call_soon_threadsafe(do, seat)


class Handler(ASGIHandler):
    def __init__(self) -> None:
        self._seats = Seats()
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:
        """All of it as for threads."""
        super().load_middleware(is_async=False)

    async def __call__(
        self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        if scope["type"] != "http":
            raise ValueError(f"{scope['type']} is not HTTP")

        async def taken_in() -> Any:
            """The next piece, after everybody else had a turn: of a long upload thousands are there at once."""
            await asyncio.sleep(0)
            return await receive()

        with self._seats.taken() as seat:
            async with ThreadSensitiveContext(executor=seat):
                await self.handle(scope, taken_in, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)
