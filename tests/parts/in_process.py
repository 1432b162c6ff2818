"""Providers reached without a socket: httpx hands a request to an ASGI app and reads its answer piece by piece."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from experiments.gateway.addresses import is_allowed
from experiments.gateway.errors import ForbiddenAddress
from experiments.gateway.transport import GuardedTransport

_apps: dict[str, Any] = {}
# Of no real server: they are below those that are given out. A URL does not keep the one that its scheme stands for.
_ports = itertools.cycle(port for port in range(1, 1024) if port != 80)
_END, _RESET, _CLOSED = object(), object(), object()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Requests to the base URL that it gives reach the app, until the block ends."""
    origin = next(origin for port in _ports if (origin := f"127.0.0.1:{port}") not in _apps)
    _apps[origin] = app
    yield f"http://{origin}/v1"
    del _apps[origin]


def install() -> None:
    """Once for the process: origins that no app serves are reached over the network as ever."""
    over_the_network = GuardedTransport.handle_async_request

    async def handle(self: GuardedTransport, request: httpx.Request) -> httpx.Response:
        app = _apps.get(request.url.netloc.decode())
        if app is None:
            return await over_the_network(self, request)
        if not is_allowed(request.url.host, allow_private=self.allow_private):
            raise ForbiddenAddress(f"{request.url.host} is no public address.")
        return await _Exchange(request).begin(app)

    GuardedTransport.handle_async_request = handle  # type: ignore[method-assign]


class Transport(httpx.AsyncBaseTransport):
    """For a client of a test: reaches the apps that are served, and nothing else."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await _Exchange(request).begin(_apps[request.url.netloc.decode()])


class _Exchange(httpx.AsyncByteStream):
    """One request and its answer. Its `send` is a bound method, as the simulated provider wants it: see its Outlet."""

    def __init__(self, request: httpx.Request) -> None:
        self._request = request
        self._pieces: asyncio.Queue[Any] = asyncio.Queue()
        self._left = asyncio.Event()
        self._was_read = False
        self._patience = request.extensions.get("timeout", {}).get("read")
        self.transport = self

    async def begin(self, app: Any) -> httpx.Response:
        self._body = await self._request.aread()
        url = self._request.url
        scope = {
            "type": "http",
            "method": self._request.method,
            "path": url.path,
            "query_string": url.query,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
        }
        self._task = asyncio.ensure_future(self._run(app, scope))
        try:
            start = await self._next()
        except BaseException:
            await self.aclose()
            raise
        return httpx.Response(start["status"], headers=start.get("headers", []), stream=self)

    async def _run(self, app: Any, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self.receive, self.send)
        finally:
            self._pieces.put_nowait(_CLOSED)

    async def receive(self) -> dict[str, Any]:
        if self._was_read:
            await self._left.wait()
            return {"type": "http.disconnect"}
        self._was_read = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: dict[str, Any]) -> None:
        self._pieces.put_nowait(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._pieces.put_nowait(_END)
        await asyncio.sleep(0)

    async def _next(self) -> Any:
        try:
            piece = await asyncio.wait_for(self._pieces.get(), self._patience)
        except TimeoutError as error:
            raise httpx.ReadTimeout("", request=self._request) from error
        if piece is _RESET:
            raise httpx.ReadError("", request=self._request)
        if piece is _CLOSED:
            raise httpx.RemoteProtocolError(
                "peer closed connection without sending complete message body (incomplete chunked read)",
                request=self._request,
            )
        return piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (message := await self._next()) is not _END:
            if message.get("body"):
                yield message["body"]

    async def aclose(self) -> None:
        self._left.set()
        await asyncio.wait({self._task}, timeout=1)  # the app may notice by itself that its client has left
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # --- the transport under the answer ---

    def get_extra_info(self, name: str) -> Any:
        return self

    def setsockopt(self, *option: Any) -> None:
        pass

    def abort(self) -> None:
        self._pieces.put_nowait(_RESET)

    def close(self) -> None:
        self._pieces.put_nowait(_CLOSED)
