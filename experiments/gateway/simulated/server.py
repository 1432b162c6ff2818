"""The simulated provider as an ASGI app: routes, the key check, and the watch for clients that leave."""

import asyncio
import hashlib
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

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
from experiments.gateway.simulated.ledger import Ledger
from experiments.gateway.simulated.names import UnknownName
from experiments.gateway.simulated.outlet import Outlet
from experiments.gateway.simulated.prompt import BadRequest
from experiments.gateway.simulated.request import parse_body, read_request
from experiments.gateway.simulated.stream import Pacer

_HELD: Final = {"stall": "stalled", "silent": "silent"}


@dataclass(slots=True)
class SimulatedProvider:
    """api_key: None accepts everybody. pacer: knows the tokens per second of models whose name says none."""

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
        outlet = Outlet(send, entry, self.ledger)
        answer = self._answer(outlet, raw) if self._is_allowed(scope) else answer_error(outlet, 401)
        await self._answer_until_left(receive, answer, outlet)

    async def _answer(self, outlet: Outlet, raw: bytes) -> None:
        entry = outlet.entry
        try:
            body = parse_body(raw)
            entry.model = body["model"]
            request = read_request(body)
        except BadRequest as error:
            return await answer_error(outlet, 400, str(error))
        except UnknownName as error:
            return await answer_error(outlet, 404, str(error))
        fail, times = request.behaviour.fail, request.behaviour.times
        if fail is not None and self.ledger.may_fail(entry.body_sha256, times):
            outlet.fail = fail
        return await deliver(outlet, request, self.pacer)

    async def _answer_until_left(self, receive: Receive, answer: Coroutine[Any, Any, None], outlet: Outlet) -> None:
        answering, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(_wait_for_leave(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            else:
                self.ledger.close(outlet.entry, _HELD.get(outlet.fail or "", "client_closed"), client_left=True)
        finally:
            answering.cancel()
            leaving.cancel()
            self.ledger.close(outlet.entry, "unfinished")


async def _wait_for_leave(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
