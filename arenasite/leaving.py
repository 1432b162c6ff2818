"""How a web process takes its leave: it accepts nobody new, tells viewers to come back, and finishes what was asked.

Daphne itself breaks off every request when it is asked to end.
"""

import asyncio
import logging
import socket
import time
from typing import Any
from weakref import WeakSet

from daphne import server
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from twisted.internet import defer, reactor, task
from twisted.internet.tcp import Port

logger = logging.getLogger(__name__)

SERVICE_RESTART = 1012  # RFC 6455's registry: come back, to this server or another one
LOOK_SECONDS = 0.05
LAST_SECONDS = 1.0  # that applications have to end in when they are asked to, and again when they are broken off


class OneByOne(Port):
    """Takes one connection in a round of the reactor: others that listen at the same socket have their share."""

    numberAccepts = property(lambda self: 1, lambda self, _more: None)  # noqa: N815 - Twisted's name


class LeavingFactory(HTTPFactory):  # type: ignore[misc]
    """Knows its connections, also those that are kept open between two requests."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.channels: WeakSet[Any] = WeakSet()

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 - Twisted's name
        protocol = super().buildProtocol(addr)
        self.channels.add(protocol)
        return protocol

    def log(self, request: Any) -> None:
        """Nothing: Twisted writes its line for nobody, and `arenasite.requests` writes ours."""


class LeavingServer(server.Server):  # type: ignore[misc]
    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._ports: list[Any] = []

    def listen_success(self, port: Any) -> None:
        if type(port) is Port:
            port.__class__ = OneByOne
            _know_family(port)
        self._ports.append(port)
        super().listen_success(port)

    def application_checker(self) -> None:
        """Daphne looks no more, ever, once an error of its own comes out of a look."""
        try:
            super().application_checker()
        except Exception:
            logger.exception("a look after the applications broke off")
            task.deferLater(reactor, 1, self.application_checker)

    def kill_all_applications(self) -> Any:
        """What Twisted waits for before it ends."""
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._leave()))

    async def _leave(self) -> None:
        until = time.monotonic() + settings.DRAIN_SECONDS
        for port in self._ports:
            port.stopListening()
        for protocol in list(self.connections):
            if isinstance(protocol, WebSocketProtocol) and protocol.state == protocol.STATE_OPEN:
                protocol.sendCloseFrame(code=SERVICE_RESTART)
        while (self._has_requests() or self._applications()) and time.monotonic() < until:  # noqa: ASYNC110 - two books
            await asyncio.sleep(LOOK_SECONDS)
        for protocol, known in list(self.connections.items()):
            if isinstance(protocol, WebRequest) and protocol.application_queue and _is_at_work(known):
                protocol.send_disconnect()  # Django ends what its view waits for; to cancel it would leave that waiting
        if asked := self._applications():
            await asyncio.wait(asked, timeout=LAST_SECONDS)
        cut_off = self._applications()
        for application in cut_off:
            application.cancel()
        if cut_off:
            await asyncio.wait(cut_off, timeout=LAST_SECONDS)

    def _has_requests(self) -> bool:
        """Whether any is being received or answered. A connection that is kept for a next one is closed: there would
        be one for ever.
        """
        is_busy = False
        for protocol in list(self.http_factory.channels):
            channel = protocol._channel  # Twisted decides late which version of HTTP it speaks, and hides it
            if channel.transport is None or not channel.transport.connected or _is_upgraded(channel):
                continue
            is_busy = True
            if not channel.requests:
                channel.loseConnection()  # once all is sent
        return is_busy

    def _applications(self) -> list[Any]:
        return [known["application_instance"] for known in self.connections.values() if _is_at_work(known)]


def _know_family(port: Any) -> None:
    """Twisted takes every socket that it is handed for one of IPv4, and reads visitors' addresses accordingly."""
    port.socket = socket.socket(fileno=port.socket.detach())
    port.fileno = port.socket.fileno


def _is_at_work(known: dict[str, Any]) -> bool:
    application = known.get("application_instance")
    return application is not None and not application.done()


def _is_upgraded(channel: Any) -> bool:
    """Whether a WebSocket has taken the connection over."""
    return any(request.transport is None for request in channel.requests)
