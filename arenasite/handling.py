"""How a request is carried out: by one thread, from the first middleware to the last, which stays for the next one.

Left to itself, Django goes to and fro between the event loop and a thread wherever middleware of the one kind follows
upon the other, and takes a new thread, with a new connection to the database, for each request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest, HttpResponseBase

KEPT = 2  # threads of a process that wait for a request for as long as it takes
IDLE_SECONDS = 5.0  # for which every other one does


@dataclass(eq=False, slots=True)
class Seat:
    """A thread, with its connection to the database. idle_since: by the clock of the event loop."""

    executor: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="request")
    )
    idle_since: float = 0.0

    def leave(self) -> None:
        self.executor.submit(connections.close_all)
        self.executor.shutdown(wait=False)


class Seats:
    """As many threads as there are requests at the same time. The one that was used last is used next, so that few are
    in use; those that were not for a while go. Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._idle: list[Seat] = []
        self._clearing: asyncio.TimerHandle | None = None

    @contextmanager
    def taken(self) -> Iterator[ThreadPoolExecutor]:
        """One for a request, to be left when nothing of the request goes on in it."""
        seat = self._idle.pop() if self._idle else Seat()
        try:
            yield seat.executor
        finally:
            self._take_back(seat)

    def _take_back(self, seat: Seat) -> None:
        loop = asyncio.get_running_loop()
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
        with self._seats.taken() as executor:
            async with ThreadSensitiveContext(executor=executor):
                await self.handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response)(request)
