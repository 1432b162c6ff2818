"""Reads an HTTP body under deadlines. Times are those of the running loop, which no clock change can move."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing, suppress
from typing import TypeVar, cast

import httpx

from experiments.gateway.errors import BadAnswer
from experiments.gateway.types import Deadlines

LINGER_SECONDS = 2.0
"""How long an answer whose finish reason has come may take to say its usage or [DONE]."""
DRAIN_SECONDS = 0.05
"""How long to wait for the end of the body after the end of the answer, so that the connection can be used again."""


_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
_OTHER_ENCODINGS = ("br", "zstd", "compress", "x-compress", "gzip, gzip", "deflate, gzip", "gzip, deflate")

T = TypeVar("T")


class DeadlinePassed(Exception):
    """A deadline of ours, with what was waited for."""


class Pace:
    """Which deadline is the next, given how far the answer has come."""

    def __init__(self, deadlines: Deadlines, *, streaming: bool) -> None:
        now = asyncio.get_running_loop().time()
        self._deadlines = deadlines
        self._end = now + deadlines.total
        self._next = now + deadlines.first_byte if streaming else self._end
        self._waiting_for = f"first content within {deadlines.first_byte:g} s"
        self._pieces = 0
        self._lingers = False

    def observe(self, pieces: int, *, complete: bool) -> None:
        """Notes progress: only a new piece of content moves the deadline, keep-alives do not."""
        if pieces == self._pieces and complete == self._lingers:
            return
        self._pieces, self._lingers = pieces, complete
        patience = LINGER_SECONDS if complete else self._deadlines.progress
        self._waiting_for = f"further content within {patience:g} s"
        self._next = asyncio.get_running_loop().time() + patience

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """The awaitable's result; raises DeadlinePassed."""
        try:
            async with asyncio.timeout_at(min(self._next, self._end)):
                return await awaitable
        except TimeoutError as error:
            whole = f"a complete answer within {self._deadlines.total:g} s"
            raise DeadlinePassed(whole if self._end <= self._next else self._waiting_for) from error


def body_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body in the pieces in which it arrives. Raises BadAnswer for an encoding that is not understood.

    Encodings in a row are refused: each can unpack a thousandfold before a limit on bytes sees anything.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        named = f" as {encoding!r}" if encoding in _OTHER_ENCODINGS else ""  # any other word may be anything
        raise BadAnswer(f"The provider compressed its answer{named}, which was not asked for.")
    plain = encoding in ("", "identity")
    # Typed as iterators by httpx, but generators, which can be closed.
    return cast(AsyncGenerator[bytes, None], response.aiter_raw() if plain else response.aiter_bytes())


async def next_of(body: AsyncGenerator[bytes, None]) -> bytes | None:
    """The next bytes, None at the end."""
    try:
        return await anext(body)
    except StopAsyncIteration:
        return None


async def drain(body: AsyncGenerator[bytes, None]) -> None:
    """Reads what is left, if it comes at once: only a body read to its end leaves a connection to be used again."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in body:
                pass


async def read_head(response: httpx.Response, limit: int, seconds: float) -> bytes:
    """The beginning of a body, or what of it came in time without trouble: good enough for an error message."""
    head = b""
    with suppress(TimeoutError, httpx.HTTPError, BadAnswer):
        async with asyncio.timeout(seconds), aclosing(body_of(response)) as body:
            async for data in body:
                head += data[:limit]
                if len(head) >= limit:
                    break
    return head[:limit]
