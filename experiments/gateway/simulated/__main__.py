"""`python -m experiments.gateway.simulated`: the simulated provider as a process of its own."""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from experiments.gateway.simulated.ledger import Ledger
from experiments.gateway.simulated.names import DEFAULT_TPS
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.serving import Server, build_server, listen
from experiments.gateway.simulated.stream import Pacer


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    app = SimulatedProvider(api_key=options.api_key, ledger=Ledger(options.ledger), pacer=Pacer(options.tps))
    listener, base_url = listen(options.host, options.port)
    if options.port_file is not None:
        _write_port(options.port_file, listener.getsockname()[1])
    sys.stdout.write(f"listening on {base_url}\n")
    sys.stdout.flush()
    server = build_server(app)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _stop(server))
    asyncio.run(server.serve(sockets=[listener]))
    return 0


def _stop(server: Server) -> None:
    server.should_exit = True


def _write_port(path: Path, port: int) -> None:
    """In one step, so that a reader never sees an empty file."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(f"{port}\n", encoding="utf-8")
    draft.replace(path)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.gateway.simulated", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--port-file", type=Path, help="the port is written here once the socket listens")
    parser.add_argument("--ledger", type=Path, help="a JSONL file to which every ended request is appended")
    parser.add_argument("--tps", type=float, default=DEFAULT_TPS, help="tokens per second, 0 for no delay")
    parser.add_argument("--api-key", help="ask for this key; without it everybody is served")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
