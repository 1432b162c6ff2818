"""Runs the app under uvicorn: as a process of its own, or in a thread for tests."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from experiments.gateway.simulated.ledger import Ledger
from experiments.gateway.simulated.names import DEFAULT_TPS
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Pacer


class Server(uvicorn.Server):
    """Leaves signals to its caller: uvicorn would raise them again after a clean end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def build_server(app: Any) -> Server:
    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        proxy_headers=False,
        access_log=False,
        log_level="critical",
        timeout_keep_alive=60,
        timeout_graceful_shutdown=1,
    )
    return Server(config)


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """A listening socket and the base URL it serves; port 0 takes any free one.

    The protocol is named because asyncio sets TCP_NODELAY only on sockets that say they are TCP; without it every
    answer waits 40 ms for the client's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(2048)
    name = f"[{host}]" if family == socket.AF_INET6 else host
    return listener, f"http://{name}:{listener.getsockname()[1]}/v1"


@dataclass(frozen=True, slots=True)
class Running:
    """A provider that runs in this process. base_url ends in /v1."""

    base_url: str
    app: SimulatedProvider

    def ledger(self) -> list[dict[str, Any]]:
        return self.app.ledger.rows()

    def clear_ledger(self) -> None:
        self.app.ledger.clear()


@contextlib.contextmanager
def running(
    *, host: str = "127.0.0.1", tps: float = DEFAULT_TPS, api_key: str | None = None, ledger_path: Path | None = None
) -> Iterator[Running]:
    """Serves on a free port from a thread of its own until the block ends."""
    app = SimulatedProvider(api_key=api_key, ledger=Ledger(ledger_path), pacer=Pacer(tps))
    with serve(app, host=host) as base_url:
        yield Running(base_url, app)


@contextlib.contextmanager
def serve(app: Any, *, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves an ASGI app on a free port from a thread of its own until the block ends; gives its base URL."""
    listener, base_url = listen(host, 0)
    server = build_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="simulated-provider", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield base_url
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the simulated provider did not start")
        time.sleep(0.005)
