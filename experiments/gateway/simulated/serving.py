"""Runs the app under uvicorn: as a process of its own, or in a thread for tests."""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from experiments.gateway.simulated.models import DEFAULT_TPS
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger, Pacer


class Server(uvicorn.Server):
    """Ends cleanly at a signal: uvicorn would raise it again."""

    def __init__(self, app: Any) -> None:
        quiet: dict[str, Any] = {"log_level": "critical", "access_log": False, "lifespan": "off", "ws": "none"}
        waits: dict[str, Any] = {"timeout_keep_alive": 60, "timeout_graceful_shutdown": 1}
        super().__init__(uvicorn.Config(app, http="h11", loop="asyncio", proxy_headers=False, **quiet, **waits))

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, self.handle_exit)
        yield


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """A listening socket and the base URL it serves; port 0 takes any free one. The protocol is named because asyncio
    sets TCP_NODELAY only on sockets that say they are TCP; without it every answer waits 40 ms.
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

    def ledger(self) -> list[dict[str, object]]:
        return self.app.ledger.rows()

    def clear_ledger(self) -> None:
        self.app.ledger.clear()


@contextlib.contextmanager
def running(
    *, host: str = "127.0.0.1", tps: float = DEFAULT_TPS, api_key: str | None = None, ledger_path: Path | None = None
) -> Iterator[Running]:
    app = SimulatedProvider(api_key, Ledger(ledger_path), Pacer(tps))
    with serve(app, host=host) as base_url:
        yield Running(base_url, app)


@contextlib.contextmanager
def serve(app: Any, *, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves an ASGI app on a free port from a thread of its own until the block ends; gives its base URL."""
    (listener, base_url), server = listen(host, 0), Server(app)
    thread = threading.Thread(target=server.run, args=([listener],), name="simulated-provider", daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the simulated provider did not start")
            time.sleep(0.005)
        yield base_url
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
