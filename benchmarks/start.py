"""How long `manage.py up` takes until it serves: with an empty data directory, and again."""

import contextlib
import os
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.parts import PYTHON, ROOT, free_port


def main(times: int = 3) -> None:
    first, second = [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="arena-start-") as folder:
            data = Path(folder) / "data"
            first.append(start(data))
            second.append(start(data))
    print(f"first start   {statistics.median(first):.1f} s   (median of {times}; empty data directory, demonstration)")
    print(f"second start   {statistics.median(second):.1f} s   (median of {times})")


def start(data: Path) -> float:
    """Seconds from the command to the line that says Ready."""
    begun = time.monotonic()
    with demonstration(data):
        return time.monotonic() - begun


@contextlib.contextmanager
def demonstration(data: Path) -> Iterator[str]:
    """A platform in this directory, and the address it is at."""
    port = free_port()
    environment = {**os.environ, "ARENA_DATA": str(data), "ARENA_DEMO": "1", "PORT": str(port)}
    command = [PYTHON, "manage.py", "up"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as platform:
        assert platform.stdout is not None
        for line in platform.stdout:
            if line.startswith("Ready:"):
                break
        try:
            yield f"http://localhost:{port}"
        finally:
            platform.send_signal(signal.SIGTERM)
