"""A PostgreSQL server that can be killed, frozen and started again."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "/")]
INITDB = INSTALLED[-1].resolve()
USER = "nobody"  # PostgreSQL refuses to run as root
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "max_wal_size": "64MB",
    "min_wal_size": "16MB",
}


class NoPostgres(Exception):
    """PostgreSQL is not installed."""


class Postgres:
    """folder: where its data and its socket are. waits_for_disk: where machines die, and not only processes."""

    def __init__(self, folder: Path, waits_for_disk: bool = False) -> None:
        if not INITDB.is_file():
            raise NoPostgres("PostgreSQL is missing: apt install postgresql, or ask for --database sqlite.")
        self.folder = folder
        self._settings = {**SETTINGS, "fsync": "on" if waits_for_disk else "off"}

    @property
    def url(self) -> str:
        return f"postgres://arena@/postgres?host={self.folder}"

    @property
    def argv(self) -> Sequence[str]:
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        return [
            *_as_user(),
            str(INITDB.with_name("postgres")),
            "-D",
            f"{self.folder}/data",
            "-k",
            str(self.folder),
            *settings,
        ]

    def make(self) -> None:
        self.folder.mkdir(parents=True)
        if os.getuid() == 0:
            shutil.chown(self.folder, USER)
        options = ("-U", "arena", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8", "--wal-segsize=1")
        command = [*_as_user(), str(INITDB), "-D", f"{self.folder}/data", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def answers(self) -> bool:
        with contextlib.suppress(psycopg.Error), psycopg.connect(self.url, connect_timeout=2):
            return True
        return False

    def forget_lock(self) -> None:
        """What a server that was killed leaves behind keeps its successor from starting, where its number is taken."""
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)


def _as_user() -> Sequence[str]:
    return ["setpriv", f"--reuid={USER}", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []


def family(process: int) -> list[int]:
    """A process and all that came from it, the youngest last."""
    found, new = [process], [process]
    while new:
        new = [child for parent in new for child in _children(parent)]
        found += new
    return found


def _children(process: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [
            int(child)
            for task in Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    return []


def send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
