"""The few ASGI shapes that a server without a framework needs."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MAX_BODY: Final = 8 << 20


class TooLarge(Exception):
    """The request body is over the limit."""


class ClientLeft(Exception):
    """The client went away before its request was complete."""


async def read_body(receive: Receive) -> bytes:
    """Raises TooLarge, ClientLeft. A body that is too large is read to its end, so that the answer arrives."""
    body, size, more = bytearray(), 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        piece = message.get("body", b"")
        size += len(piece)
        if size <= MAX_BODY:
            body += piece
        more = message.get("more_body", False)
    if size > MAX_BODY:
        raise TooLarge
    return bytes(body)


def header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


async def start(send: Send, status: int, content_type: str, headers: dict[str, str] | None = None) -> None:
    pairs = {"content-type": content_type, **(headers or {})}
    encoded = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in pairs.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})


async def write(send: Send, body: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def answer_json(send: Send, value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> None:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    await start(send, status, "application/json", {"content-length": str(len(body)), **(headers or {})})
    await write(send, body)
