"""Loaded before the settings: where this process of the test session keeps its data, and which database it talks to.

Each of the processes that share the tests has data, a Redis and a PostgreSQL of its own.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

TEMPORARY = Path(tempfile.mkdtemp(prefix="arena-tests-"))
os.environ["ARENA_DATA"] = str(TEMPORARY / "data")
(TEMPORARY / "data/static").mkdir(parents=True)  # where collected files would be: without it every start warns
os.environ["REDIS_URL"] = f"unix://{TEMPORARY / 'redis.sock'}"
os.environ.pop("OPENROUTER_API_KEY", None)
for limit in ("PERSON", "ADDRESS"):
    os.environ[f"ARENA_API_PER_{limit}"] = "0"  # tests ask faster than people do
os.environ["ARENA_API_KEY_TESTS"] = "0"

# The shell draws the same pages with about half of the processor time: it has no windows around them.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
POSTGRES = shutil.which("initdb") or next(
    iter(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")))), None
)


def _as_ordinary_user(*command: str) -> None:
    """PostgreSQL's own programs refuse to run as root."""
    if os.getuid() == 0:
        command = ("runuser", "-u", "nobody", "--", *command)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


def start_postgres() -> str:
    """A PostgreSQL server of this test session, on a socket of its own. Returns its URL."""
    folder, binaries = TEMPORARY / "postgres", Path(POSTGRES).parent
    folder.mkdir()
    TEMPORARY.chmod(0o755)
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
    _as_ordinary_user(str(binaries / "initdb"), "-D", f"{folder}/data", "-U", "arena", "-A", "trust", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=200"
    control = [str(binaries / "pg_ctl"), "-D", f"{folder}/data"]
    _as_ordinary_user(*control, "-o", options, "-l", f"{folder}/log", "-w", "start")
    return f"postgres://arena@/postgres?host={folder}"


def stop_postgres() -> None:
    if (TEMPORARY / "postgres").exists():
        binaries = Path(str(POSTGRES)).parent
        _as_ordinary_user(str(binaries / "pg_ctl"), "-D", f"{TEMPORARY}/postgres/data", "-m", "immediate", "stop")


WANTS_POSTGRES = os.environ.get("ARENA_TEST_DATABASE") == "postgresql"

if WANTS_POSTGRES and POSTGRES:
    os.environ["DATABASE_URL"] = start_postgres()
else:
    os.environ.pop("DATABASE_URL", None)


def pytest_unconfigure() -> None:
    stop_postgres()
    shutil.rmtree(TEMPORARY, ignore_errors=True)
