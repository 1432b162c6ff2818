"""The line to the platform: the same questions, asked by waiting or by awaiting."""

import asyncio
import time
from typing import Any, TypeVar

import httpx

from arena_lab.asking import Ask, answered
from arena_lab.credentials import Credentials
from arena_lab.retrying import Patience
from arena_lab.version import VERSION

T = TypeVar("T")
TIMEOUT = httpx.Timeout(60.0, connect=10.0)  # seconds; a PDF takes its time


def _settings(credentials: Credentials) -> dict[str, Any]:
    return {
        "base_url": f"{credentials.url}/api/",
        "headers": {"Authorization": f"Bearer {credentials.token}", "User-Agent": f"arena-lab-client/{VERSION}"},
        "timeout": TIMEOUT,
    }


def _request(ask: Ask[Any]) -> dict[str, Any]:
    return {
        "method": ask.method,
        "url": ask.path,
        "params": dict(ask.params),
        "json": ask.json,
        "data": ask.data,
        "files": ask.files,
        "headers": {"Accept": "*/*", **ask.headers()},
    }


class Line:
    """Asks, and waits for the answer."""

    def __init__(
        self, credentials: Credentials, patience: Patience, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.credentials, self._patience = credentials, patience
        self._http = httpx.Client(transport=transport, **_settings(credentials))

    def do(self, ask: Ask[T], patience: Patience | None = None) -> T:
        """Raises an ArenaError."""
        patience, attempt = patience or self._patience, 0
        while True:
            attempt += 1
            outcome = self._send(ask)
            seconds = patience.wait(ask, outcome, attempt)
            if seconds is None:
                return answered(ask, outcome, self.credentials.url)
            time.sleep(seconds)

    def _send(self, ask: Ask[Any]) -> httpx.Response | httpx.TransportError:
        try:
            return self._http.request(**_request(ask))
        except httpx.TransportError as error:
            return error

    def close(self) -> None:
        self._http.close()


class AsyncLine:
    """Asks, and lets others go on meanwhile."""

    def __init__(
        self, credentials: Credentials, patience: Patience, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.credentials, self._patience = credentials, patience
        self._http = httpx.AsyncClient(transport=transport, **_settings(credentials))

    async def do(self, ask: Ask[T], patience: Patience | None = None) -> T:
        """Raises an ArenaError."""
        patience, attempt = patience or self._patience, 0
        while True:
            attempt += 1
            outcome = await self._send(ask)
            seconds = patience.wait(ask, outcome, attempt)
            if seconds is None:
                return answered(ask, outcome, self.credentials.url)
            await asyncio.sleep(seconds)

    async def _send(self, ask: Ask[Any]) -> httpx.Response | httpx.TransportError:
        try:
            return await self._http.request(**_request(ask))
        except httpx.TransportError as error:
            return error

    async def close(self) -> None:
        await self._http.aclose()
