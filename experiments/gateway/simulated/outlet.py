"""Where one answer leaves, and where its end is booked: before the client can see it, so that no ledger is behind."""

import asyncio
import socket
import struct

from experiments.gateway.simulated.asgi import Message, Send
from experiments.gateway.simulated.ledger import Entry, Ledger


class Outlet:
    """An ASGI `send` for one request. fail: the failure that is acted out, None for an honest answer."""

    def __init__(self, send: Send, entry: Entry, ledger: Ledger) -> None:
        self.entry = entry
        self.fail: str | None = None
        self._send = send
        self._ledger = ledger
        self._status = 200

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        elif not message.get("more_body"):
            self._book()
        await self._send(message)

    def drop(self, *, reset: bool) -> None:
        """Closes the socket under an unfinished answer; with `reset` the client sees ECONNRESET, not an end.

        ASGI has no word for either, so uvicorn's transport is taken from the request cycle that `send` is bound to.
        """
        self._book()
        transport: asyncio.Transport = self._send.__self__.transport  # type: ignore[attr-defined]  # uvicorn hands over a bound method of its protocol
        if reset:
            connection = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()

    def _book(self) -> None:
        failed = f"failed_{self._status}" if self._status >= 400 else None
        self._ledger.close(self.entry, failed or self.fail or "finished")
