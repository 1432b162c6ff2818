"""WebSockets that take ready frames, and that know how far the viewer at the other end is behind.

The application finds `Frames` in its scope, under extensions["arena.frames"], and can do without.
"""

import asyncio
import socket
import struct
import time
from typing import Any

from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet.tcp import Connection

from arenasite.server.http import unsent_bytes  # first of all, for it installs the reactor

EXTENSION = "arena.frames"
TOO_SLOW = 4408  # the code with which a viewer who takes nothing is closed
MOST_WAITING = 1 << 18  # bytes that wait for one viewer; what comes beyond is left out, and found in the table later
KERNEL_BYTES = 1 << 17  # that the kernel may keep besides; it takes twice as much memory
STALLED_SECONDS = 30.0  # for which nothing was taken of what waits
FAREWELL_SECONDS = 30.0  # to read that it is over, before the connection is cut
POLL_SECONDS = 0.02
TEXT_FRAME = 0x81
SHORT, LONGER = 126, 127


class PatientSocket(WebSocketProtocol):  # type: ignore[misc]  # daphne and autobahn have no types
    def onConnect(self, request: Any) -> Any:  # noqa: N802 - Autobahn's name
        self._heard = self._moved = time.monotonic()
        self._written = self._taken = 0
        self.closeHandshakeTimeout = FAREWELL_SECONDS
        self._is_plain = isinstance(self.transport, Connection) and not self.transport.TLS
        if self._is_plain:
            self.transport.getHandle().setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
        return super().onConnect(request)

    # --- how far behind ---

    @property
    def waiting(self) -> int:
        """Bytes that the kernel has not taken yet."""
        return unsent_bytes(self.transport)

    def check_timeouts(self) -> None:
        super().check_timeouts()
        now, waiting = time.monotonic(), self.waiting
        if not waiting or self._written - waiting != self._taken:
            self._taken, self._moved = self._written - waiting, now
        if now - self._moved > STALLED_SECONDS:
            self._give_up()

    def onAutoPingTimeout(self) -> None:  # noqa: N802 - Autobahn's name
        """Some ping was not answered in time; but a later one may have been."""
        self.autoPingTimeoutCall = None
        if time.monotonic() - self._heard >= self.autoPingTimeout:
            self._give_up()

    def _give_up(self) -> None:
        """Say that it is over, to be read after all that was sent; the application has not to wait for that."""
        if self.state != self.STATE_OPEN:
            return
        self.sendClose(code=TOO_SLOW)
        self.application_queue.put_nowait({"type": "websocket.disconnect", "code": TOO_SLOW})
        self.muted = True  # the application hears of no second end

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        self._heard = time.monotonic()
        super().dataReceived(data)

    # --- to the other end ---

    def sendData(self, data: bytes, *args: Any, **more: Any) -> None:  # noqa: N802 - Autobahn's name
        self._written = getattr(self, "_written", 0) + len(data)
        super().sendData(data, *args, **more)

    def serverSend(self, content: Any, binary: bool = False) -> None:  # noqa: N802 - Daphne's
        """Nothing to a viewer who is gone: the application has not heard of it yet."""
        if self.state in (self.STATE_CONNECTING, self.STATE_OPEN):
            super().serverSend(content, binary)

    def write_frame(self, frame: bytes) -> bool:
        """Hand the frame to the kernel at once if nothing waits: the reactor's round costs more than the sending. False
        when it was left out.
        """
        if self.state != self.STATE_OPEN or (waiting := self.waiting) > MOST_WAITING:
            return False
        self._written += len(frame)
        sent = self.transport.writeSomeData(frame) if self._is_plain and not waiting else 0
        if not isinstance(sent, int) or sent < 0:
            sent = 0  # the connection is lost: the reactor finds out by itself, and tidies up
        if sent < len(frame):
            self.transport.write(frame[sent:])
        return True


class SocketFactory(WebSocketFactory):  # type: ignore[misc]  # daphne and autobahn have no types
    protocol = PatientSocket


class Frames:
    """What the application has of a socket besides the messages of ASGI."""

    def __init__(self, protocol: PatientSocket) -> None:
        self._protocol = protocol

    def framed(self, text: str) -> bytes:
        """The text as it travels; of use for every other socket, too."""
        return text_frame(text)

    def write(self, frame: bytes) -> bool:
        """False when it was left out, because too much waits already."""
        return self._protocol.write_frame(frame)

    @property
    def is_behind(self) -> bool:
        return self._protocol.waiting > MOST_WAITING

    async def has_room(self) -> bool:
        """Wait until most of what waits is taken. False when the socket is closed."""
        protocol = self._protocol
        while protocol.state == protocol.STATE_OPEN and protocol.waiting > MOST_WAITING // 2:  # noqa: ASYNC110 - no event
            await asyncio.sleep(POLL_SECONDS)
        return bool(protocol.state == protocol.STATE_OPEN)


def text_frame(text: str) -> bytes:
    """RFC 6455, 5.2: one whole text message from a server, which has no mask."""
    payload = text.encode()
    size = len(payload)
    if size < SHORT:
        return struct.pack("!BB", TEXT_FRAME, size) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", TEXT_FRAME, SHORT, size) + payload
    return struct.pack("!BBQ", TEXT_FRAME, LONGER, size) + payload
