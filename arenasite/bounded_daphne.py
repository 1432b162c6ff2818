"""Daphne with a bound on what it holds: `python -m arenasite.bounded_daphne`, with Daphne's own options.

Daphne takes in a request of any length before it asks anybody, and then holds the whole of it in memory. Here whatever
is longer than the longest file is dropped while it comes in, and the rest stays on the disk until it is read. Likewise
an answer waits for its reader where it comes from, and not here.
"""

import asyncio
from importlib import import_module
from typing import Any

import django
from daphne import server
from daphne.cli import CommandLineInterface
from django.conf import settings
from twisted.internet import defer, reactor, task

from arenasite import draining
from arenasite.leaving import LeavingFactory, LeavingServer
from arenasite.patient_answers import PatientRequest
from arenasite.patient_sockets import EXTENSION, Frames, PatientFactory, PatientSocket
from experiments.tasks.threads import spare_what_is_loaded

ROOM_FOR_FORM = 1 << 20  # bytes of a request beside its file
AT_ONCE = 8  # requests of the longest kind that may be coming in at the same time
CHUNK = 1 << 16  # bytes that the application is handed at a time


class BoundedRequest(PatientRequest):
    """held: bytes of all bodies that are here at the moment."""

    held = 0

    def __init__(self, *args: Any, **more: Any) -> None:
        self._kept, self._status = 0, 0
        self._most = settings.UPLOAD_BYTES + ROOM_FOR_FORM
        super().__init__(*args, **more)
        self._parsePOSTFormSubmission = False  # Twisted would read a whole form, for nobody: Django reads it

    def __repr__(self) -> str:
        """As Daphne writes it into the log: an address may hold a secret, or what somebody looks for."""
        return f"<{type(self).__name__} {self.method.decode('ascii', 'replace')}>"

    def gotLength(self, length: int | None) -> None:  # noqa: N802 - Twisted's name
        super().gotLength(length)
        if length is not None and length > self._most:
            self._status = 413

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Keep it, unless it is too much: then it is read on, since browsers hear nothing before they have sent all."""
        if not self._status and self._kept + len(data) > self._most:
            self._status = 413
        if not self._status and BoundedRequest.held + len(data) > AT_ONCE * self._most:
            self._status = 503
        if self._status:
            self._let_go()
            return
        self._kept += len(data)
        BoundedRequest.held += len(data)
        super().handleContentChunk(data)

    def process(self) -> Any:
        """Django answers in its own words where the request says how long it is; it gets nothing of it to read."""
        says_length = self.requestHeaders.hasHeader(b"Content-Length")
        if self._status == 413 and not says_length:
            return self.basic_error(413, b"Content Too Large", "The request is too long.")
        if self._kept and self.requestHeaders.hasHeader(b"Upgrade"):  # nobody would be left to let go of it
            return self.basic_error(400, b"Bad Request", "What asks for another protocol has no body.")
        if self._status == 503:
            return self.basic_error(503, b"Service Unavailable", "Too much is being sent at the moment: try again.")
        return super().process()

    def connectionLost(self, reason: Any) -> None:  # noqa: N802 - Twisted's name
        self._let_go()
        super().connectionLost(reason)

    def finish(self) -> None:
        self._let_go()
        super().finish()

    def _let_go(self) -> None:
        BoundedRequest.held -= self._kept
        if self._status and self._kept:
            self.content.seek(0)
            self.content.truncate()
        self._kept = 0


class BoundedFactory(LeavingFactory):
    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = BoundedRequest
        return protocol


class BoundedServer(LeavingServer):
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, request_buffer_size=CHUNK, **more)
        import_module(settings.ROOT_URLCONF)  # every view, before it is asked for
        spare_what_is_loaded()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        if isinstance(protocol, PatientSocket):
            scope["extensions"] = {EXTENSION: Frames(protocol)}
        queue = super().create_application(protocol, scope)
        if queue is not None and isinstance(protocol, BoundedRequest):
            leave_on_disk(queue, protocol.content)
        return queue

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        if isinstance(protocol, PatientRequest):
            await protocol.has_room()

    def kill_all_applications(self) -> Any:
        """Before the end: for a while everything is served as ever, while `/readyz` sends new visitors elsewhere."""
        draining.begin()
        return task.deferLater(reactor, settings.WEB_DRAIN_SECONDS, self._end_applications)

    def _end_applications(self) -> "defer.Deferred[Any]":
        return defer.maybeDeferred(super().kill_all_applications)


def leave_on_disk(queue: "asyncio.Queue[dict[str, Any]]", content: Any) -> None:
    """Let the queue hold how long each piece of a body is, and read it from the content when it is asked for."""
    waiting: Any = queue
    begun = 0

    def put(message: dict[str, Any]) -> None:
        waiting._queue.append({**message, "body": len(message["body"])} if "body" in message else message)

    def get() -> dict[str, Any]:
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


class Interface(CommandLineInterface):  # type: ignore[misc]  # daphne and twisted have no types
    server_class = BoundedServer


if __name__ == "__main__":
    django.setup()
    server.HTTPFactory, server.WebSocketFactory = BoundedFactory, PatientFactory
    Interface.entrypoint()
