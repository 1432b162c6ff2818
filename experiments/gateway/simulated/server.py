"""The simulated provider as an ASGI app: routes, the key check, and the watch for clients that leave."""

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from experiments.gateway.simulated.asgi import (
    ClientLeft,
    Receive,
    Scope,
    Send,
    TooLarge,
    answer_json,
    header,
    read_body,
)
from experiments.gateway.simulated.catalogue import list_models
from experiments.gateway.simulated.delivery import deliver
from experiments.gateway.simulated.failures import answer_error
from experiments.gateway.simulated.ledger import Entry, Ledger
from experiments.gateway.simulated.names import DEFAULT_TPS, UnknownName
from experiments.gateway.simulated.prompt import BadRequest
from experiments.gateway.simulated.request import parse_body, read_request
from experiments.gateway.simulated.stream import Pacer

HOLDING_OUTCOMES = {"stall": "stalled", "silent": "silent"}


@dataclass(slots=True)
class SimulatedProvider:
    """tps: tokens per second of models whose name says none. api_key: None accepts everybody."""

    tps: float = DEFAULT_TPS
    api_key: str | None = None
    ledger: Ledger = field(default_factory=Ledger)
    pacer: Pacer = field(default_factory=Pacer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        method, path = scope["method"], scope["path"].rstrip("/").removeprefix("/v1")
        if path == "/chat/completions" and method == "POST":
            await self._complete(scope, receive, send)
        elif path == "/models" and method == "GET":
            await self._list_models(scope, send)
        elif path == "/ledger" and method in ("GET", "DELETE"):
            await self._show_ledger(method, send)
        else:
            known = path in ("/chat/completions", "/models", "/ledger")
            await answer_error(send, 405 if known else 404)

    def _is_allowed(self, scope: Scope) -> bool:
        return self.api_key is None or header(scope, b"authorization") == f"Bearer {self.api_key}"

    async def _list_models(self, scope: Scope, send: Send) -> None:
        if self._is_allowed(scope):
            await answer_json(send, list_models())
        else:
            await answer_error(send, 401)

    async def _show_ledger(self, method: str, send: Send) -> None:
        if method == "DELETE":
            self.ledger.clear()
        await answer_json(send, self.ledger.rows())

    async def _complete(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = header(scope, b"x-client-request-id")
        try:
            raw = await read_body(receive)
        except ClientLeft:
            return
        except TooLarge:
            self.ledger.close(self.ledger.open(request_id=request_id, body_sha256=""), "failed_413")
            await answer_error(send, 413)
            return
        entry = self.ledger.open(request_id=request_id, body_sha256=hashlib.sha256(raw).hexdigest())
        answer = self._answer(send, raw, entry) if self._is_allowed(scope) else _refuse(send, 401)
        await self._answer_until_left(receive, answer, entry)

    async def _answer(self, send: Send, raw: bytes, entry: Entry) -> str:
        try:
            body = parse_body(raw)
            entry.model = body["model"]
            request = read_request(body)
        except BadRequest as error:
            return await _refuse(send, 400, str(error))
        except UnknownName as error:
            return await _refuse(send, 404, str(error))
        fail = request.behaviour.fail
        if fail is not None and not self.ledger.may_fail(entry.body_sha256, request.behaviour.times):
            fail = None
        entry.outcome = HOLDING_OUTCOMES.get(fail or "", "open")
        return await deliver(send, request, entry, self.pacer, fail=fail, tps=self.tps)

    async def _answer_until_left(self, receive: Receive, answer: Coroutine[Any, Any, str], entry: Entry) -> None:
        answering, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(_wait_for_leave(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                self.ledger.close(entry, answering.result())
            else:
                self.ledger.close(
                    entry, "client_closed" if entry.outcome == "open" else entry.outcome, client_left=True
                )
        finally:
            answering.cancel()
            leaving.cancel()
            if entry.ended is None:
                self.ledger.close(entry, "server_stopped")


async def _refuse(send: Send, status: int, message: str = "") -> str:
    await answer_error(send, status, message)
    return f"failed_{status}"


async def _wait_for_leave(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
