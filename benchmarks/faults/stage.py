"""The platform with all its parts: each can be taken away, and comes back as a service manager brings it back."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from arenasite.supervisor import places
from arenasite.supervisor.children import Child
from arenasite.supervisor.parts import Parts, find_redis, redis_arguments
from benchmarks.faults import postgres
from benchmarks.faults.clock import SOURCE, Clock
from benchmarks.faults.disk import Disk
from benchmarks.faults.pace import Pace
from benchmarks.faults.postgres import Postgres
from benchmarks.parts import ROOT
from benchmarks.preloading import build

OURS = ("REDIS_URL", "DATABASE_URL", "ARENA_", "OPENROUTER_API_KEY", "PORT")
ENGINE = ("worker-1", "worker-2")
CALLERS = ("caller-1", "caller-2")  # where workers make no calls themselves
WORKERS = (*ENGINE, "reports", "sandbox")
WEB = ("web", "web-2")  # at one socket, which nobody closes
START_SECONDS = 240.0  # of a machine that does much else
DRAIN_SECONDS = 60.0  # after which a part that was asked to end is killed
AGAIN_SECONDS = 0.3  # until what has died is started again


class NotThere(Exception):
    """A part does not come up."""


class Stage:
    """disk: where data and database are. Everything is started, kept and ended by one thread."""

    def __init__(
        self,
        folder: Path,
        disk: Disk,
        pace: Pace,
        *,
        database: str,
        waits_for_disk: bool = False,
        has_callers: bool = False,
    ) -> None:
        self.folder, self.disk = folder, disk
        self.callers = CALLERS if has_callers else ()
        self._listener = places.listen("127.0.0.1", 0)
        self.port = int(self._listener.getsockname()[1])
        self.children: dict[str, Child] = {}
        self.away: set[str] = set()  # those that are not to be started again for now
        self.starts: dict[str, int] = {}
        self.drains: list[tuple[str, float]] = []  # who was asked to end, and how many seconds it took
        self._asked: dict[str, float] = {}
        self.postgres = Postgres(disk.folder / "postgres", waits_for_disk) if database == "postgresql" else None
        if self.postgres:
            self.postgres.make()
        data = disk.folder / "data"
        for directory in (data, data / "redis", folder / "logs"):
            directory.mkdir(parents=True, exist_ok=True)
        library = build(SOURCE, folder)
        names = (*ENGINE, *WEB) if self.postgres else ("host",)
        self.clocks = {name: Clock(folder / f"{name}.clock", library) for name in names}
        clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        self.environment = clean | {
            "ARENA_DATA": str(data),
            "DATABASE_URL": self.postgres.url if self.postgres else f"sqlite:///{data}/arena.sqlite3",
            "REDIS_URL": f"unix://{folder}/redis.sock",
            "ARENA_LEASE_SECONDS": str(pace.lease),
            "ARENA_SWEEP_SECONDS": str(pace.sweep),
            "ARENA_DRAIN_SECONDS": str(pace.drain),
            "ARENA_WEB_DRAIN_SECONDS": "0",
            "ARENA_CALLERS": str(len(self.callers)),
            "ARENA_API_PER_PERSON": "0",
            "ARENA_API_PER_ADDRESS": "0",
            "ARENA_LOG_LEVEL": "INFO",
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
            "PYTHONUNBUFFERED": "1",
        }
        self._parts = Parts(ROOT, data, folder, pace.drain)

    # --- beginning and end ---

    def begin(self, *, seed: int, pace: Pace, spoilings: str) -> None:
        """Everything but the workers, for which the catalogue has to be made first."""
        redis_argv = redis_arguments(find_redis(), self.folder, self.disk.folder / "data")
        self._start("redis", redis_argv)
        if self.postgres:
            self._start("postgres", self.postgres.argv)
        simulated = ["-m", "experiments.gateway.simulated", "--port-file", str(self.folder / "provider.port")]
        simulated += ["--ledger", str(self.folder / "ledger.jsonl")]
        self._start("provider", [sys.executable, *simulated, "--tps", str(pace.tps)])
        spoiler = ["-m", "benchmarks.faults.proxy", "--upstream", self.provider, "--seed", str(seed)]
        spoiler += ["--port-file", str(self.folder / "proxy.port"), "--stall", str(pace.stall)]
        self._start("proxy", [sys.executable, *spoiler, "--share", str(pace.spoiled), "--only", spoilings])
        self.require(lambda: self._answers_sql(), "the database")
        self.manage("migrate", "-v0")

    def serve(self) -> None:
        for number, name in enumerate(WEB, 1):
            self._start(name, self._parts.web(number, self._listener.fileno()).argv)
        for number, name in enumerate(self.callers, 1):
            self._start(name, self._parts.caller(number).argv)
        for number in (1, 2):
            self._start(f"worker-{number}", self._parts.worker(number).argv)
        self._start("reports", self._parts.reports().argv)
        self._start("sandbox", self._parts.sandbox().argv)
        self.require(self.is_well, "the web server")

    def end(self) -> None:
        for name in (*WORKERS, *CALLERS, *WEB, "proxy", "provider", "redis", "postgres"):
            if child := self.children.pop(name, None):
                if child.process and child.is_alive:
                    child.process.send_signal(signal.SIGCONT)
                    child.process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
                    _wait(child, 10)
                child.kill()
        self._listener.close()

    # --- its parts ---

    @property
    def provider(self) -> str:
        return self._address("provider")

    @property
    def proxy(self) -> str:
        return self._address("proxy")

    def _address(self, name: str) -> str:
        file = self.folder / f"{name}.port"
        self.require(file.exists, f"the {name}")
        return f"http://127.0.0.1:{file.read_text().strip()}/v1"

    def pid(self, name: str) -> int:
        child = self.children[name]
        if child.process is None or child.process.poll() is not None:
            raise NotThere(name)
        return child.process.pid

    def family(self, name: str) -> list[int]:
        try:
            return postgres.family(self.pid(name))
        except NotThere:
            return []

    def send(self, name: str, number: signal.Signals, *, to_all: bool = False) -> None:
        processes = self.family(name)
        postgres.send(processes if to_all else processes[:1], number)

    def manage(self, *command: str) -> str:
        return self.run("manage.py", *command)

    def run(self, *command: str, given: str = "") -> str:
        call = [sys.executable, *command]
        done = subprocess.run(call, cwd=ROOT, env=self.environment, capture_output=True, text=True, input=given)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-3000:]}")
        return done.stdout

    # --- keeping ---

    def ask_to_end(self, name: str) -> None:
        """As a service manager does: SIGTERM, and SIGKILL for who takes too long; callers may take as long as their
        longest call. Then it is started anew.
        """
        if self.children[name].is_alive and name not in self._asked:
            self._asked[name] = time.monotonic()
            self.send(name, signal.SIGTERM)

    def keep(self) -> None:
        """Start again whatever has ended and is not meant to be away."""
        for name, child in self.children.items():
            is_late = name in self._asked and time.monotonic() - self._asked[name] > DRAIN_SECONDS
            if is_late and name not in CALLERS:
                child.kill()
            if child.has_ended:
                if (asked := self._asked.pop(name, None)) and name not in CALLERS:
                    self.drains.append((name, time.monotonic() - asked))
                child.bury()
                child.due = time.monotonic() + AGAIN_SECONDS
            if child.process is None and name not in self.away and time.monotonic() >= (child.due or 0):
                self._again(name, child)

    def wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.keep()
            time.sleep(0.05)

    def require(self, is_so: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
        until = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > until:
                raise NotThere(f"{what} does not come up within {seconds:.0f} s; see {self.folder}/logs")
            self.wait(0.1)

    def is_well(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health/", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _start(self, name: str, argv: Sequence[str]) -> None:
        clock = self.clocks.get(name) or (self.clocks.get("host") if name in (*WORKERS, *CALLERS, *WEB) else None)
        environment = self.environment | (clock.environment if clock else {})
        child = Child(name, argv, self.folder / "logs" / f"{name}.log", environment)
        child.handed = (self._listener.fileno(),) if name in WEB else ()
        self.children[name] = child
        self.starts[name] = 1
        child.start()

    def _again(self, name: str, child: Child) -> None:
        if name == "postgres" and self.postgres:
            self.postgres.forget_lock()
        self.starts[name] += 1
        child.start()

    def _answers_sql(self) -> bool:
        return self.postgres is None or self.postgres.answers()


def _wait(child: Child, seconds: float) -> None:
    until = time.monotonic() + seconds
    while child.is_alive and time.monotonic() < until:
        time.sleep(0.05)
