"""Answers that come piece by piece, at the pace of whoever reads them.

Daphne takes each piece at once and keeps what the kernel does not: a file that is fetched more slowly than it is read
from the disk would be in memory as a whole.
"""

import asyncio
import time
from typing import Any

from daphne.http_protocol import WebRequest

STALLED_SECONDS = 300.0  # for which nothing was taken of what waits; the kernel asks rarely where the line is slow


class PatientRequest(WebRequest):  # type: ignore[misc]  # daphne and twisted have no types
    """Whom Twisted tells when enough waits, and when all of it was taken."""

    def __init__(self, *args: Any, **more: Any) -> None:
        self._room = asyncio.Event()
        self._room.set()
        self._left, self._moved = 0, 0.0
        super().__init__(*args, **more)

    async def has_room(self) -> None:
        """Wait until what was written is taken, or nobody is there to take it."""
        await self._room.wait()

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message.get("more_body") and not self.producer and not self.finished and self.channel is not None:
            self.registerProducer(self, True)
        super().handle_reply(message)

    def finish(self) -> None:
        self._let_write()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        self._let_write()
        super().connectionLost(reason)

    def handle_exception(self, exception: BaseException) -> None:
        """Who has a part of an answer sees that it breaks off: no error page fits behind it."""
        if self.finished or self.channel is None:
            return
        if self._response_started:
            self.channel.forceAbortClient()
        else:
            super().handle_exception(exception)

    def check_timeouts(self) -> None:
        super().check_timeouts()
        if self._room.is_set() or self.channel is None:
            return
        left, now = self._waiting, time.monotonic()
        if left != self._left:
            self._left, self._moved = left, now
        if now - self._moved > STALLED_SECONDS:
            self.channel.forceAbortClient()

    @property
    def _waiting(self) -> int:
        """Bytes that the kernel has not taken yet."""
        transport = self.channel.transport
        return int(len(transport.dataBuffer) - transport.offset + transport._tempDataLen)

    def _let_write(self) -> None:
        self._room.set()
        if self.producer:
            self.unregisterProducer()

    # --- what Twisted tells ---

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._room.clear()
        self._left, self._moved = self._waiting, time.monotonic()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._room.set()

    def stopProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._room.set()
