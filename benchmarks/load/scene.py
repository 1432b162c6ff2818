"""`manage.py up` for a measurement: its processes by name, and what people and a provider do with it."""

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import postgres
from benchmarks.parts import PYTHON, ROOT, Parts, free_port

STAMP_EVERY = 10  # tokens
START_SECONDS = "300"  # the machine may be busy with others
PERSON = """
from django.core.management import call_command
from accounts.models import User
User.objects.create_user("bench", password="measuring things")
call_command("create_token", "bench")
"""
STAMPING = """
from django.core.management import call_command
from experiments.models import Provider
for name in ("stamp-a", "stamp-b"):
    call_command("add_provider", "--name", name, "--base-url", "{base}", "--allow-private", "--model", name)
Provider.objects.update(concurrency=1000, is_simulated=True)
"""
NAMES = {"web": "web", "worker": "worker-", "reports": "reports", "sandbox": "sandbox", "redis": "valkey"}


class Scene(Parts):
    """ask() and manage() as in Parts; the processes are those that `manage.py up` has started."""

    def __init__(self, folder: Path, database: str) -> None:
        super().__init__(folder)
        self.environment |= {"DATABASE_URL": database, "ARENA_API_PER_PERSON": "0", "ARENA_API_PER_ADDRESS": "0"}
        self.environment |= {"PORT": str(self.port), "REDIS_URL": "", "ARENA_START_SECONDS": START_SECONDS}
        self.experiment = ""

    @property
    def redis_socket(self) -> Path:
        return self.folder / "run" / "redis.sock"

    def pids(self) -> dict[str, list[int]]:
        """The processes of each part, and those that the measurement itself has started."""
        found: dict[str, list[int]] = {name: [process.pid] for name, process in self.processes.items() if name != "up"}
        if "up" in self.processes:
            for pid in _below(self.processes["up"].pid):
                process = _read(pid, "comm")
                for name, beginning in NAMES.items():
                    if process.startswith(beginning):
                        found.setdefault(name, []).append(pid)
        return found

    def stamping(self, rate: float, tokens: int) -> None:
        port = free_port()
        arguments = (str(port), str(rate), str(tokens), str(STAMP_EVERY))
        self.start("provider", PYTHON, "-m", "benchmarks.stamping", *arguments)
        base = f"http://127.0.0.1:{port}/v1"
        self.manage("shell", "-v0", "-c", STAMPING.format(base=base))

    def prepare(self, turns: int) -> None:
        """The experiment of which all runs are repetitions."""
        cast = {"A": {"model": "stamp-a"}, "B": {"model": "stamp-b"}}
        config = {"prompt": "Measure.", "gap_seconds": 0, "filter": False, "judge": False, "max_turns": turns}
        body = {"workflow": "arena", "config": config, "cast": cast}
        self.experiment = self.ask("POST", "experiments/", body)["id"]

    def begin(self, count: int) -> list[str]:
        begun: list[str] = []
        while len(begun) < count:
            body = {"repeats": min(50, count - len(begun))}
            begun += [run["id"] for run in self.ask("POST", f"experiments/{self.experiment}/start/", body)["runs"]]
        return begun

    def up(self, *arguments: str) -> None:
        log = self.folder / "up.log"
        command = [PYTHON, "manage.py", "up", *arguments]
        with log.open("w") as output:
            self.processes["up"] = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdout=output, stderr=subprocess.STDOUT
            )
        while "Ready:" not in log.read_text():
            if self.processes["up"].poll() is not None:
                logs = [log, *sorted((self.folder / "logs").glob("*.log"))]
                raise RuntimeError("\n".join(f"{one.name}: {one.read_text()[-2000:]}" for one in logs))
            time.sleep(0.1)


@contextlib.contextmanager
def scene(*, is_postgres: bool, arguments: list[str], tables: Path | None = None) -> Iterator[Scene]:
    """tables: an SQLite database that has them, of which a copy is used."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-load-")))
        database = f"sqlite:///{folder}/load.sqlite3"
        if tables:
            shutil.copyfile(tables, folder / "load.sqlite3")
        if is_postgres:
            database = stack.enter_context(postgres.server(Path(f"{folder}-postgres")))
        here = Scene(folder, database)
        try:
            here.up(*arguments)
            here.token = here.manage("shell", "-v0", "-c", PERSON).split()[-1]
            yield here
        finally:
            for name in reversed(list(here.processes)):
                here.stop(name)


def rows(here: Scene) -> dict[str, Any]:
    """What the database has to say about the runs of the scene: `benchmarks.load.rows`."""
    call = [PYTHON, "-m", "benchmarks.load.rows", here.experiment]
    done = subprocess.run(call, cwd=ROOT, env=here.environment, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _below(pid: int) -> Iterator[int]:
    for child in _read(pid, f"task/{pid}/children").split():
        yield int(child)
        yield from _below(int(child))


def _read(pid: int, file: str) -> str:
    try:
        return Path("/proc", str(pid), file).read_bytes().decode(errors="replace")
    except OSError:
        return ""
