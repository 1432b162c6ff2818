"""`python -m experiments.gateway.simulated`: the simulated provider as a process of its own, under uvicorn."""

import argparse
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from experiments.gateway.simulated.batches import SECONDS, Batches
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.gateway.simulated", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--port-file", type=Path, help="the port is written here once the socket listens")
    parser.add_argument("--ledger", type=Path, help="a JSONL file to which every ended request is appended")
    parser.add_argument("--tps", type=float, default=DEFAULT_TPS, help="tokens per second, 0 for no delay")
    parser.add_argument("--batch-seconds", type=float, default=SECONDS, help="from a batch's creation to its end")
    parser.add_argument("--api-key", help="ask for this key; without it every request is served")
    options = parser.parse_args()
    listener, base_url = listen(options.host, options.port)
    if options.port_file is not None:
        draft = options.port_file.with_name(options.port_file.name + ".draft")  # a reader never sees an empty file
        draft.write_text(f"{listener.getsockname()[1]}\n", encoding="utf-8")
        draft.replace(options.port_file)
    sys.stdout.write(f"listening on {base_url}\n")
    sys.stdout.flush()
    made = SimulatedProvider(
        options.api_key, Ledger(options.ledger), Pacer(options.tps), Batches(options.batch_seconds)
    )
    Server(made).run([listener])


if __name__ == "__main__":
    main()
