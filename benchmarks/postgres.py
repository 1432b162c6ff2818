"""A PostgreSQL server of a measurement, in a directory of its own, on a socket."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

BINARIES = Path(shutil.which("initdb") or max(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), default="/"))
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_wal_size": "8GB",
    "shared_buffers": "1GB",
    "maintenance_work_mem": "512MB",
    "max_parallel_workers_per_gather": "0",  # what a request takes is what it takes of one core
}


@contextlib.contextmanager
def server(folder: Path) -> Iterator[str]:
    """The URL of its database."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in (folder, *folder.parents):
        if part.owner() == "root" and part.stat().st_mode & 0o777 == 0o700 and part != Path("/root"):
            part.chmod(0o755)
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
    if not (folder / "data").exists():
        _run("initdb", "-D", f"{folder}/data", "-U", "arena", "-A", "trust", "--no-sync", "-E", "UTF8")
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    control = ("pg_ctl", "-D", f"{folder}/data")
    _run(*control, "-o", f"-k {folder} {options}", "-l", f"{folder}/log", "-w", "start")
    try:
        yield f"postgres://arena@/postgres?host={folder}"
    finally:
        _run(*control, "-m", "fast", "stop")


def _run(program: str, *arguments: str) -> None:
    """PostgreSQL's own programs refuse to run as root."""
    command = [str(BINARIES.parent / program), *arguments]
    if os.getuid() == 0:
        command = ["runuser", "-u", "nobody", "--", *command]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
