"""A web process from its first connection to its end: it accepts nobody new, tells viewers to come back, and finishes
what was asked. Daphne itself breaks off every request when it is asked to end.
"""

import asyncio
import logging
import socket
import time
from importlib import import_module
from typing import Any

from daphne import server
from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from twisted.internet import defer, reactor, task
from twisted.internet.tcp import Port

from arenasite import environment, probes
from arenasite.server.http import Request, leave_on_disk
from arenasite.server.websockets import EXTENSION, Frames, PatientSocket
from experiments.tasks.threads import spare_what_is_loaded

logger = logging.getLogger(__name__)

CHUNK = 1 << 16  # bytes of a body that the application is handed at a time
SERVICE_RESTART = 1012  # RFC 6455's registry: come back, to this server or another one
LOOK_SECONDS = 0.05
LAST_SECONDS = 1.0  # that applications have to end in when they are asked to, and again when they are broken off


class OneByOne(Port):
    """Takes one connection in a round of the reactor: others that listen at the same socket have their share."""

    numberAccepts = property(lambda self: 1, lambda self, _more: None)  # noqa: N815 - Twisted's name


class WebServer(server.Server):  # type: ignore[misc]  # daphne and twisted have no types
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, request_buffer_size=CHUNK, **more)
        self._ports: list[Any] = []
        self._ready_seconds = environment.seconds("ARENA_WEB_DRAIN_SECONDS", 0)  # while asked to end already
        import_module(settings.ROOT_URLCONF)  # every view, before it is asked for
        spare_what_is_loaded()

    def listen_success(self, port: Any) -> None:
        if type(port) is Port:
            port.__class__ = OneByOne
            _know_family(port)
        self._ports.append(port)
        super().listen_success(port)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        if isinstance(protocol, PatientSocket):
            scope["extensions"] = {EXTENSION: Frames(protocol)}
        queue = super().create_application(protocol, scope)
        if queue is not None and isinstance(protocol, Request):
            leave_on_disk(queue, protocol.content)
        return queue

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        await super().handle_reply(protocol, message)
        if isinstance(protocol, Request):
            await protocol.has_room()

    def application_checker(self) -> None:
        """Daphne looks no more, ever, once an error of its own comes out of a look."""
        try:
            super().application_checker()
        except Exception:
            logger.exception("a look after the applications broke off")
            task.deferLater(reactor, 1, self.application_checker)

    # --- the end ---

    def kill_all_applications(self) -> Any:
        """What Twisted waits for before it ends. For a while everything is served as ever, while `/readyz` sends new
        visitors elsewhere; then what was asked is finished.
        """
        probes.begin_draining()
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._drain()))

    async def _drain(self) -> None:
        await asyncio.sleep(self._ready_seconds)
        until = time.monotonic() + settings.DRAIN_SECONDS
        for port in self._ports:
            port.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, WebSocketProtocol) and protocol.state == protocol.STATE_OPEN:
                protocol.sendCloseFrame(code=SERVICE_RESTART)
        while (self._has_requests() or self._at_work()) and time.monotonic() < until:  # noqa: ASYNC110 - no event
            await asyncio.sleep(LOOK_SECONDS)
        unfinished = self._at_work()
        for protocol in unfinished:
            if isinstance(protocol, WebRequest) and protocol.application_queue:
                protocol.send_disconnect()  # Django ends what its view waits for; to cancel it would leave that waiting
        if unfinished:
            await asyncio.wait(unfinished.values(), timeout=LAST_SECONDS)
        if broken_off := self._at_work().values():
            for application in broken_off:
                application.cancel()
            await asyncio.wait(broken_off, timeout=LAST_SECONDS)

    def _has_requests(self) -> bool:
        """Whether any is being received or answered. A connection that is kept for a next one is closed: there would
        be one for ever.
        """
        is_busy = False
        for protocol in list(self.http_factory.channels):
            channel = protocol._channel  # Twisted decides late which version of HTTP it speaks, and hides it
            has_become_socket = any(request.transport is None for request in channel.requests)
            if channel.transport is None or not channel.transport.connected or has_become_socket:
                continue
            is_busy = True
            if not channel.requests:
                channel.loseConnection()  # once all is sent
        return is_busy

    def _at_work(self) -> dict[Any, Any]:
        """The connections whose application has not ended, with that."""
        found = {protocol: known.get("application_instance") for protocol, known in self.connections.items()}
        return {protocol: one for protocol, one in found.items() if one is not None and not one.done()}


def _know_family(port: Any) -> None:
    """Twisted takes every socket that it is handed for one of IPv4, and reads visitors' addresses accordingly."""
    port.socket = socket.socket(fileno=port.socket.detach())
    port.fileno = port.socket.fileno
