"""Requests and answers of bounded size in memory.

Daphne takes in a request of any length before it asks the application, and then holds the whole of it in memory. Here
whatever is longer than the longest file is dropped while it comes in, and the rest stays on the disk until it is read.
Likewise Daphne takes each piece of an answer at once: a file that is fetched more slowly than it is read from the disk
would be in memory as a whole. Here an answer waits for its reader where it comes from.
"""

import asyncio
import time
from typing import Any
from weakref import WeakSet

import daphne.server  # noqa: F401 - installs the reactor, which must be there before anything else of Twisted
from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings

ROOM_FOR_FORM = 1 << 20  # bytes of a request beside its file
AT_ONCE = 8  # requests of the longest kind that may be coming in at the same time
STALLED_SECONDS = 300.0  # without progress of an answer that waits; the kernel asks rarely where the line is slow


class Request(WebRequest):  # type: ignore[misc]  # daphne and twisted have no types
    """held: bytes of all bodies that are here at the moment."""

    held = 0

    def __init__(self, *args: Any, **more: Any) -> None:
        self._kept, self._status = 0, 0
        self._most = settings.UPLOAD_BYTES + ROOM_FOR_FORM
        self._room = asyncio.Event()
        self._room.set()
        self._left, self._moved = 0, 0.0
        super().__init__(*args, **more)
        self._parsePOSTFormSubmission = False  # Twisted would read a whole form, in vain: Django reads it

    def __repr__(self) -> str:
        """As Daphne writes it into the log: an address may hold a secret, or what somebody looks for."""
        return f"<{type(self).__name__} {self.method.decode('ascii', 'replace')}>"

    # --- what comes in ---

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        super().gotLength(length)
        if length is not None and length > self._most:
            self._status = 413

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Keep it, unless it is too much: then it is read on, since browsers hear nothing before they have sent all."""
        if not self._status and self._kept + len(data) > self._most:
            self._status = 413
        if not self._status and Request.held + len(data) > AT_ONCE * self._most:
            self._status = 503
        if self._status:
            self._release()
        else:
            self._kept += len(data)
            Request.held += len(data)
            super().handleContentChunk(data)

    def process(self) -> Any:
        """Django answers in its own words where the request says how long it is; it gets nothing of it to read."""
        if self._status == 413 and not self.requestHeaders.hasHeader(b"Content-Length"):
            return self.basic_error(413, b"Content Too Large", "The request is too long.")
        if self._kept and self.requestHeaders.hasHeader(b"Upgrade"):  # the new protocol would never release it
            return self.basic_error(400, b"Bad Request", "What asks for another protocol has no body.")
        if self._status == 503:
            return self.basic_error(503, b"Service Unavailable", "Too much is being sent at the moment: try again.")
        return super().process()

    def _release(self) -> None:
        Request.held -= self._kept
        if self._status and self._kept:
            self.content.seek(0)
            self.content.truncate()
        self._kept = 0

    # --- what goes out: Twisted tells a producer when enough waits, and when all of it was taken ---

    async def has_room(self) -> None:
        """Wait until what was written is taken, or the reader is gone."""
        await self._room.wait()

    def handle_reply(self, message: dict[str, Any]) -> None:
        if message.get("more_body") and not self.producer and not self.finished and self.channel is not None:
            self.registerProducer(self, True)
        super().handle_reply(message)

    def pauseProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._room.clear()
        self._left, self._moved = unsent_bytes(self.channel.transport), time.monotonic()

    def resumeProducing(self) -> None:  # noqa: N802 - Twisted's name
        self._room.set()

    stopProducing = resumeProducing  # noqa: N815 - Twisted's name

    def check_timeouts(self) -> None:
        super().check_timeouts()
        if self._room.is_set() or self.channel is None:
            return
        left, now = unsent_bytes(self.channel.transport), time.monotonic()
        if left != self._left:
            self._left, self._moved = left, now
        if now - self._moved > STALLED_SECONDS:
            self.channel.forceAbortClient()

    def handle_exception(self, exception: BaseException) -> None:
        """A reader who has a part of an answer sees that it breaks off: no error page fits behind it."""
        if self.finished or self.channel is None:
            return
        if self._response_started:
            self.channel.forceAbortClient()
        else:
            super().handle_exception(exception)

    # --- the end ---

    def finish(self) -> None:
        self._end()
        super().finish()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        self._end()
        super().connectionLost(reason)

    def _end(self) -> None:
        self._release()
        self._room.set()
        if self.producer:
            self.unregisterProducer()


class Factory(HTTPFactory):  # type: ignore[misc]  # daphne and twisted have no types
    """Knows its connections, also those that are kept open between two requests."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.channels: WeakSet[Any] = WeakSet()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = Request
        self.channels.add(protocol)
        return protocol

    def log(self, request: Any) -> None:
        """Nothing: Twisted would write its line in vain, and `arenasite.requests` writes ours."""


def unsent_bytes(transport: Any) -> int:
    """That the kernel has not taken yet."""
    return int(len(transport.dataBuffer) - transport.offset + transport._tempDataLen)


def leave_on_disk(queue: "asyncio.Queue[dict[str, Any]]", content: Any) -> None:
    """Let the queue hold how long each piece of a body is, and read it from the content when it is asked for."""
    waiting: Any = queue
    begun = 0

    def put(message: dict[str, Any]) -> None:
        waiting._queue.append({**message, "body": len(message["body"])} if "body" in message else message)

    def get() -> dict[str, object]:
        nonlocal begun
        message: dict[str, Any] = waiting._queue.popleft()
        if "body" not in message:
            return message
        if content.closed:
            return {"type": "http.disconnect"}
        content.seek(begun)
        body = content.read(message["body"])
        begun += len(body)
        return {**message, "body": body}

    waiting._put, waiting._get = put, get  # asyncio.Queue keeps these two for whoever stores otherwise
