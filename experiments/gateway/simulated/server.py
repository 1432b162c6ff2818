"""The simulated provider as an ASGI app: its routes, its delivery of answers, and the failures that names ask for."""

import asyncio
import hashlib
import json
import socket
import struct
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Any, Final

from experiments.gateway.simulated import stream
from experiments.gateway.simulated.answers import answer_to
from experiments.gateway.simulated.batches import Batches
from experiments.gateway.simulated.models import Refused, list_models
from experiments.gateway.simulated.request import Request, read_request
from experiments.gateway.simulated.stream import Entry, Ledger, Message, Pacer, Receive, Reply, Send, answer_json, write

BREAKS: Final = ("cut", "reset", "stall", "silent")
HELD: Final = {"stall": "stalled", "silent": "silent"}  # failures that end when the client leaves, and their outcomes


class Outlet:
    """The ASGI `send` of one answer; closes its entry before the client sees the end. fail: what is to be played."""

    def __init__(self, send: Send, entry: Entry, ledger: Ledger) -> None:
        self.entry, self.fail, self._send, self._ledger = entry, "", send, ledger

    async def __call__(self, message: Message) -> None:
        if message.get("status", 200) >= 400:
            self.fail = f"failed_{message['status']}"
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._ledger.close(self.entry, self.fail or "finished")
        await self._send(message)

    async def break_off(self) -> None:
        """Stalls, or closes the socket under an unfinished answer: uvicorn's, to which `send` is bound."""
        if self.fail in HELD:
            await asyncio.Event().wait()
        self._ledger.close(self.entry, self.fail)
        transport: asyncio.Transport = self._send.__self__.transport  # type: ignore[attr-defined]
        if self.fail == "reset":
            linger = struct.pack("ii", 1, 0)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            transport.abort()
        else:
            transport.close()


@dataclass(slots=True)
class SimulatedProvider:
    """api_key: None accepts every request. pacer: knows the tokens per second of models whose name says none. batches:
    know how long a batch takes.
    """

    api_key: str | None = None
    ledger: Ledger = field(default_factory=Ledger)
    pacer: Pacer = field(default_factory=Pacer)
    batches: Batches = field(default_factory=Batches)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        is_allowed = self.api_key is None or headers.get(b"authorization") == f"Bearer {self.api_key}"
        match scope["method"], scope["path"].rstrip("/").removeprefix("/v1"):
            case "POST", "/chat/completions":
                raw = await stream.read_body(receive)
                entry = self.ledger.open(headers.get(b"x-client-request-id", ""), hashlib.sha256(raw).hexdigest())
                outlet = Outlet(send, entry, self.ledger)
                await self._until_left(self._answer(outlet, raw, is_allowed=is_allowed), outlet, receive)
            case "GET", "/models" if is_allowed:
                await answer_json(send, list_models())
            case _, path if is_allowed and path.startswith(("/files", "/batches")):
                status, body = self.batches.answer(scope, await stream.read_body(receive), self.ledger)
                await (stream.answer_bytes if isinstance(body, bytes) else answer_json)(send, body, status)
            case _:
                await answer_error(send, 404 if is_allowed else 401)

    async def _until_left(self, answer: Coroutine[Any, Any, None], outlet: Outlet, receive: Receive) -> None:
        """Answers, unless the client leaves before the end."""
        answering, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(_client_left(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            else:
                self.ledger.close(outlet.entry, HELD.get(outlet.fail, "client_closed"))
        finally:
            answering.cancel()
            leaving.cancel()
            self.ledger.close(outlet.entry, "unfinished")

    async def _answer(self, outlet: Outlet, raw: bytes, *, is_allowed: bool) -> None:
        entry = outlet.entry
        if not is_allowed:
            return await answer_error(outlet, 401)
        try:
            request = read_request(raw)
        except Refused as error:
            return await answer_error(outlet, error.status, str(error))
        entry.model, behaviour = request.model, request.behaviour
        if behaviour.fail and self.ledger.may_fail(entry.body_sha256, behaviour.times):
            outlet.fail = behaviour.fail
        if outlet.fail.isdigit():
            wait = {} if behaviour.retry_after is None else {"retry_after": f"{behaviour.retry_after:g}"}
            return await answer_error(outlet, int(outlet.fail), **wait)
        if outlet.fail in BREAKS and (outlet.fail == "silent" or not request.stream):
            return await outlet.break_off()
        reply = Reply("") if outlet.fail == "empty" else answer_to(request)
        reply = reply.limited(behaviour.after if outlet.fail == "length" else request.max_tokens)
        tps = behaviour.tokens_per_second(self.pacer.default_tps)
        if request.stream:
            return await self._stream(outlet, request, reply, tps)
        await asyncio.sleep(behaviour.first + (reply.token_count / tps if tps else 0))
        entry.first_byte, entry.tokens_sent = time.time(), reply.token_count
        return await answer_json(outlet, stream.whole_body(request, reply))

    async def _stream(self, outlet: Outlet, request: Request, reply: Reply, tps: float) -> None:
        await stream.start(outlet, 200, "text/event-stream; charset=utf-8", cache_control="no-cache")
        await write(outlet, b": SIMULATED PROCESSING\n\n", more=True)
        await asyncio.sleep(request.behaviour.first)
        await write(outlet, stream.frame(request, delta={"role": "assistant", "content": ""}), more=True)
        limit = request.behaviour.after if outlet.fail in (*BREAKS, "error_event") else None
        await self.pacer.send(outlet, islice(stream.token_frames(request, reply), limit), outlet.entry, tps)
        if outlet.fail == "error_event":
            await write(outlet, f"data: {json.dumps(error_body(502))}\n\ndata: [DONE]\n\n".encode())
        elif outlet.fail in BREAKS:
            await outlet.break_off()
        else:
            await write(outlet, stream.final_frames(request, reply))


def error_body(status: int, message: str = "") -> dict[str, object]:
    phrase = HTTPStatus(status).phrase
    return {"error": {"message": message or f"{phrase} (simulated).", "type": phrase, "code": status}}


async def answer_error(send: Send, status: int, message: str = "", **headers: str) -> None:
    await answer_json(send, error_body(status, message), status, **headers)


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
