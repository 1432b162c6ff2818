"""What a database holds that was found on a disk after a loss of power, beside what had been acknowledged."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.faults.postgres import USER, Postgres
from benchmarks.faults.stage import OURS
from benchmarks.parts import ROOT
from benchmarks.power.playing import Acknowledged

START_SECONDS = 120.0
Query = Callable[[str], Sequence[tuple[Any, ...]]]


def missing(left: Path, acknowledged: Sequence[Acknowledged], database: str) -> list[tuple[str, str]]:
    """Kinds and names of what is not there, or not whole."""
    opened = _postgres if database == "postgresql" else _sqlite
    with opened(left) as (url, query):
        lost = list(_damage(query, database)) or list(_lost(left / "data", query, acknowledged))
        return lost + list(_unverified(left / "data", url))


@contextlib.contextmanager
def _sqlite(left: Path) -> Iterator[tuple[str, Query]]:
    path = left / "data" / "arena.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        yield f"sqlite:///{path}", lambda sql: connection.execute(sql).fetchall()


@contextlib.contextmanager
def _postgres(left: Path) -> Iterator[tuple[str, Query]]:
    server = Postgres(left / "postgres")
    for path in (server.folder, *server.folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
        if os.getuid() == 0:
            shutil.chown(path, USER)
    server.forget_lock()
    with (left / "postgres.log").open("w") as log:
        process = subprocess.Popen(server.argv, stdout=log, stderr=log, cwd="/")
    try:
        until = time.monotonic() + START_SECONDS
        while not server.answers():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL does not start: {(left / 'postgres.log').read_text()[-2000:]}")
            time.sleep(0.2)
        with psycopg.connect(server.url, autocommit=True) as connection:
            yield server.url, lambda sql: connection.execute(sql).fetchall()
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait()


def _damage(query: Query, database: str) -> Iterator[tuple[str, str]]:
    try:
        said = [("ok",)] if database == "postgresql" else query("PRAGMA integrity_check")
    except sqlite3.DatabaseError as error:
        said = [(str(error),)]
    if said != [("ok",)]:
        yield "database", str(said[0][0])


def _lost(data: Path, query: Query, acknowledged: Sequence[Acknowledged]) -> Iterator[tuple[str, str]]:
    events = {_id(run): last for run, last in query("SELECT run_id, count(*) FROM experiments_event GROUP BY run_id")}
    answered = "SELECT run_id, key, data FROM experiments_step WHERE kind IN ('listen', 'offer') AND state = 'done'"
    found = {("words", f"{_id(run)} {key}", _json(data).get("text")) for run, key, data in query(answered)}
    cast = "SELECT id FROM experiments_battle WHERE ballot <> '' AND winner <> ''"
    found |= {("vote", str(key), "") for (key,) in query(cast)}
    found |= {("file", _id(path.name), str(path.stat().st_size)) for path in data.rglob("*") if path.is_file()}
    for one in acknowledged:
        key = _id(one.key)
        if events.get(key, 0) < int(one.value) if one.kind == "run" else (one.kind, key, one.value) not in found:
            yield one.kind, f"{one.key} {one.value[:60]}"


def _id(key: Any) -> str:
    """SQLite keeps ids without dashes. A key of words has the key of its pause behind the run's id."""
    run, space, pause = str(key).partition(" ")
    return run.replace("-", "") + space + pause


def _json(data: Any) -> Any:
    return json.loads(data) if isinstance(data, str) else data


def _unverified(data: Path, url: str) -> Iterator[tuple[str, str]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    command = [sys.executable, "manage.py", "verify"]
    environment = clean | {"ARENA_DATA": str(data), "DATABASE_URL": url}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        yield "verify", (done.stdout + done.stderr)[-300:].strip()
