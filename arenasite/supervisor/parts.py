"""The processes that the platform consists of, as children not yet started."""

import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arenasite.supervisor import redis
from arenasite.supervisor.children import Child

WEBSOCKET_FRAME_BYTES = 65536  # what a viewer may send at once
WEBSOCKET_MESSAGE_BYTES = 16 << 20  # holds for what we send too: a long reply, or the metrics of many turns
REPORTS_WORKER = "experiments.runs.reports.jobs.ReportsWorker"
SANDBOX_WORKER = "experiments.sandbox.host.worker.SandboxWorker"
SECRET_NAMES = re.compile(r"KEY|SECRET|TOKEN|PASS|_URL$", re.IGNORECASE)
FIRST, AFTER_WORKERS, LAST = range(3)  # in which order they are ended
SPARE = 3.0  # seconds that a process has on top, to write down what came last


@dataclass(frozen=True, slots=True)
class Parts:
    """base: where manage.py is. data, sockets: directories that exist. drain: seconds that a worker may go on for."""

    base: Path
    data: Path
    sockets: Path
    drain: float

    def redis(self) -> Child:
        child = self._child("redis", redis.arguments(redis.find_binary(), self.sockets, self.data), is_trusted=False)
        child.orphan_signal = signal.SIGTERM  # its last words go to the append-only file
        child.rank = LAST
        return child

    def simulated(self) -> Child:
        self.simulated_port_file.unlink(missing_ok=True)
        child = self._child("simulated", self._simulated_arguments(0), is_trusted=False)
        child.rank = AFTER_WORKERS
        return child

    def web(self, number: int, listener: int) -> Child:
        """All of them take visitors from the same socket; listener is our descriptor of it. None goes on being ready
        longer than it must: when they are asked to end, there is nobody else to send visitors to.
        """
        child = self._python("web" if number == 1 else f"web-{number}", *web_arguments("--fd", str(listener)))
        child.environment = {**child.environment, "ARENA_WEB_DRAIN_SECONDS": "0"}
        child.handed = (listener,)
        child.rank, child.patience = AFTER_WORKERS, self.drain + SPARE
        return child

    def worker(self, number: int) -> Child:
        """Calls that it cannot hear out in time are broken off: the next one asks again."""
        child = self._manage(f"worker-{number}", "rqworker", "engine", "--skip-checks")
        child.rank, child.patience = FIRST, self.drain + SPARE
        return child

    def reports(self) -> Child:
        """Computes ratings, makes the files of long runs, reads datasets, tells webhooks. What it cannot finish in time
        is done anew by the next one.
        """
        queues = ("ratings", "reports", "datasets", "webhooks")
        arguments = ("rqworker", *queues, "--worker-class", REPORTS_WORKER, "--skip-checks")
        child = self._manage("reports", *arguments)
        child.rank, child.patience = FIRST, self.drain + SPARE
        return child

    def sandbox(self) -> Child:
        """Runs the code of contests in boxes; what it cannot finish in time is run again by the next one."""
        child = self._manage("sandbox", "rqworker", "sandbox", "--worker-class", SANDBOX_WORKER, "--skip-checks")
        child.rank, child.patience = FIRST, self.drain + SPARE
        return child

    def once(self, command: str) -> Child:
        """A command that is run beside the platform, one time."""
        child = self._manage(command, command)
        child.is_kept = False
        return child

    # --- the simulated provider chooses its own port, and keeps it ---

    @property
    def simulated_port_file(self) -> Path:
        return self.sockets / "simulated.port"

    def simulated_port(self) -> int | None:
        try:
            return int(self.simulated_port_file.read_text())
        except (OSError, ValueError):
            return None

    def pin_simulated(self, child: Child, port: int) -> None:
        """Its next start takes the same port: runs under way know its address."""
        child.argv = self._simulated_arguments(port)

    def _simulated_arguments(self, port: int) -> list[str]:
        options = ["--host", "127.0.0.1", "--port", str(port), "--port-file", str(self.simulated_port_file)]
        return [sys.executable, "-m", "experiments.gateway.simulated", *options]

    def _manage(self, name: str, *arguments: str) -> Child:
        return self._python(name, str(self.base / "manage.py"), *arguments)

    def _python(self, name: str, *arguments: str) -> Child:
        return self._child(name, [sys.executable, *arguments])

    def _child(self, name: str, argv: Sequence[str], *, is_trusted: bool = True) -> Child:
        """is_trusted: whether it needs the secrets of the environment; other programs get none."""
        environment = (dict(os.environ) if is_trusted else without_secrets(os.environ)) | {
            "ARENA_DATA": str(self.data),
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.base), os.environ.get("PYTHONPATH", "")])),
            "PYTHONUNBUFFERED": "1",
        }
        return Child(name, argv, self.data / "logs" / f"{name}.log", environment)


def web_arguments(*place: str) -> tuple[str, ...]:
    """The web server, as arguments of Python. place: where it listens, as Daphne's options."""
    return (
        *("-m", "arenasite.bounded_daphne", *place, "-v", "0", "--no-server-name"),
        *("--websocket-max-message-size", str(WEBSOCKET_MESSAGE_BYTES)),
        *("--websocket-max-frame-size", str(WEBSOCKET_FRAME_BYTES)),
        *("--ping-interval", "20", "--application-close-timeout", "2"),
        "arenasite.asgi:application",
    )


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without keys, passwords, and addresses that may have a password in them."""
    return {name: value for name, value in environment.items() if not SECRET_NAMES.search(name)}
