"""The simulated provider, and other ASGI apps, served over HTTP from a thread of this process."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn

from experiments.gateway.simulated.__main__ import Server, listen
from experiments.gateway.simulated.models import DEFAULT_TPS
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger, Pacer

HELD_AFTER = 10  # tokens


@dataclass(frozen=True, slots=True)
class Running:
    """A provider that runs in this process. base_url ends in /v1."""

    base_url: str
    app: SimulatedProvider

    def ledger(self) -> list[dict[str, object]]:
        return self.app.ledger.rows()

    def clear_ledger(self) -> None:
        self.app.ledger = Ledger()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Within it the models fall silent after a few words, until it ends. Whoever is slow misses nothing."""
        pacer, due, let = self.app.pacer, self.app.pacer._due, threading.Event()
        silent: dict[float, float] = {}

        async def due_when_let(began: float, sent: int, tps: float) -> int:
            if sent >= HELD_AFTER and began not in silent:
                fell_silent = time.monotonic()
                await asyncio.to_thread(let.wait)
                silent[began] = time.monotonic() - fell_silent
            count = await due(began + silent.get(began, 0), sent, tps)
            return count if let.is_set() or sent >= HELD_AFTER else min(count, HELD_AFTER - sent)

        pacer._due = due_when_let
        try:
            yield
        finally:
            let.set()


@contextlib.contextmanager
def running(*, tps: float = DEFAULT_TPS) -> Iterator[Running]:
    app = SimulatedProvider(None, Ledger(), Pacer(tps))
    with serve(app) as base_url:
        yield Running(base_url, app)


@contextlib.contextmanager
def serve(app: Any) -> Iterator[str]:
    """Serves an ASGI app on a free port from a thread of its own until the block ends; gives its base URL."""
    (listener, base_url), server = listen("127.0.0.1", 0), uvicorn.Server(Server(app).config)
    thread = threading.Thread(target=server.run, args=([listener],), name="simulated-provider", daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the provider did not start")
            time.sleep(0.005)
        yield base_url
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
