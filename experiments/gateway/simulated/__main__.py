"""`python -m experiments.gateway.simulated`: the simulated provider as a process of its own."""

import argparse
import sys
from pathlib import Path

from experiments.gateway.simulated.models import DEFAULT_TPS
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.serving import Server, listen
from experiments.gateway.simulated.stream import Ledger, Pacer

parser = argparse.ArgumentParser(prog="python -m experiments.gateway.simulated", description=__doc__)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
parser.add_argument("--port-file", type=Path, help="the port is written here once the socket listens")
parser.add_argument("--ledger", type=Path, help="a JSONL file to which every ended request is appended")
parser.add_argument("--tps", type=float, default=DEFAULT_TPS, help="tokens per second, 0 for no delay")
parser.add_argument("--api-key", help="ask for this key; without it every request is served")
options = parser.parse_args()
listener, base_url = listen(options.host, options.port)
if options.port_file is not None:
    draft = options.port_file.with_name(options.port_file.name + ".draft")  # a reader never sees an empty file
    draft.write_text(f"{listener.getsockname()[1]}\n", encoding="utf-8")
    draft.replace(options.port_file)
sys.stdout.write(f"listening on {base_url}\n")
sys.stdout.flush()
Server(SimulatedProvider(options.api_key, Ledger(options.ledger), Pacer(options.tps))).run([listener])
