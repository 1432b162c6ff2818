"""Real platforms in directories of their own, and a look at which of their processes are there."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.fixtures import PATIENCE, wait_until
from tests.parts import template_database

ROOT = Path(__file__).parent.parent.parent
OURS = ("REDIS_URL", "DATABASE_URL", "ARENA_DATA", "ARENA_DEMO", "OPENROUTER_API_KEY", "PORT")
PARTS = {  # the name of a process, and the command that it was started with
    "web": re.compile(r"web(-\d+)?\n"),
    "worker": re.compile(r"worker-\d+\n"),
    "caller": re.compile(r"caller-\d+\n"),
    "reports": re.compile(r"reports\n"),
    "simulated": re.compile(r".*\n.*experiments\.gateway\.simulated"),
    "redis": re.compile(r".*\n.*valkey-server"),
}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def environment(**changes: str) -> dict[str, str]:
    """Nothing configured but what is named."""
    return {name: value for name, value in os.environ.items() if name not in OURS} | changes


def manage(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=environment(**changes), capture_output=True, text=True, timeout=240)


def with_tables(data: Path) -> None:
    """The data directory has a migrated database afterwards."""
    database = data / "arena.sqlite3"
    if not database.exists():
        data.mkdir(exist_ok=True)
        shutil.copyfile(template_database.migrated(), database)


class Platform:
    """A `manage.py up` as somebody starts it in a terminal, with one web process unless it is told otherwise.

    is_new: there is no database yet. Otherwise the platform finds one that has all its tables.
    """

    def __init__(self, data: Path, *arguments: str, is_new: bool = False, **changes: str) -> None:
        self.data, self.port = data, free_port()
        if not is_new:
            with_tables(data)
        self._output = data.with_suffix(".output")
        command = [sys.executable, str(ROOT / "manage.py"), "up", "--web", "1", *arguments]
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                command,
                env=environment(ARENA_DATA=str(data), PORT=str(self.port), **changes),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return self._output.read_text()

    def wait_until_ready(self) -> "Platform":
        wait_until(lambda: "Logs " in self.output or self.process.poll() is not None, "a platform")
        assert f"Ready: http://localhost:{self.port}\n" in self.output, self.output
        return self

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """The exit code. Fails when it does not end."""
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def health(self) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"http://localhost:{self.port}/api/health/", timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as answer:
            return json.load(answer)
        except OSError:
            return {"status": "no answer"}

    def pids(self, part: str) -> list[int]:
        return [pid for pid in self.all_pids() if PARTS[part].match(_read(pid, "comm") + _read(pid, "cmdline"))]

    def all_pids(self) -> list[int]:
        """Every process of this data directory, wherever it hangs in the tree. Redis overwrites its environment."""
        mark, directory = f"ARENA_DATA={self.data}\0", f"{self.data}/"
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if mark in _read(pid, "environ") or directory in _read(pid, "cmdline")]


def _read(pid: int, file: str) -> str:
    try:
        return Path("/proc", str(pid), file).read_bytes().decode(errors="replace")
    except OSError:
        return ""
