"""The migrated database, made once and copied: migrating takes seconds, copying the file some milliseconds.

The template is kept between runs under a name that depends on whatever a migration or a setting says: of SQLite the
file, of PostgreSQL what `pg_dump` says, which is read into the server of each test process.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
import psycopg
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.db import connection, connections
from django.test import TransactionTestCase

from tests.environment import POSTGRES

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "databases"
SOURCES = (
    *("*/migrations/*.py", "arenasite/settings.py", "accounts/scopes.py", "experiments/library/search/*.py"),
    *("experiments/library/instruments/builtin.py", "experiments/library/instruments/builtin/*.json"),
    *("experiments/review/rubrics.py", "experiments/review/rubrics/*.json", "experiments/workflows/**/*.py"),
)
MOST_KEPT = 4


def migrated() -> Path:
    """A database file with every migration, which nobody may write to."""
    with _kept("sqlite3") as template:
        if not template.exists():
            with tempfile.TemporaryDirectory(dir=KEPT) as folder:
                _migrate(f"sqlite:///{folder}/made")
                Path(folder, "made").rename(template)
    return template


def set_up(database: Path) -> None:
    """Connect this process to a fresh copy at `database`, and let tests that commit go back to it afterwards."""
    own = database.with_name("template.sqlite3")
    shutil.copyfile(migrated(), own)
    _go_back_to(lambda: _copy(own, database), str(database))


def set_up_postgres() -> None:
    """The same on the server that the settings name."""
    url, binaries, name = os.environ["DATABASE_URL"], Path(str(POSTGRES)).resolve().parent, "test_postgres"
    template = url.replace("/postgres?", "/template?")

    def make(name: str, like: str) -> None:
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {name} TEMPLATE {like}")

    make("template", like="template1")
    with _kept("sql") as dump:
        if dump.exists():
            subprocess.run([binaries / "psql", "-qX", "-o", os.devnull, "-f", dump, template], check=True)
        else:
            _migrate(template)
            subprocess.run([binaries / "pg_dump", "-f", dump, template], check=True)
    _go_back_to(lambda: make(name, like="template"), name)


@contextmanager
def _kept(kind: str) -> Iterator[Path]:
    """Where the template of this kind is, or is to be made; one process at a time is here."""
    content = hashlib.sha256(django.__version__.encode())
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        content.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        template = KEPT / f"{content.hexdigest()[:20]}.{kind}"
        yield template
        os.utime(template)
        for old in sorted(KEPT.glob(f"*.{kind}"), key=lambda path: path.stat().st_mtime)[:-MOST_KEPT]:
            old.unlink()


def _migrate(url: str) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"DATABASE_URL": url}, check=True)


def _go_back_to(make: Callable[[], None], name: str) -> None:
    def restore(self: Any = None) -> None:
        connections.close_all()
        SyncToAsync.single_thread_executor.submit(connections.close_all).result()  # those of asynchronous code
        make()

    restore()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name
    TransactionTestCase._fixture_teardown = restore  # type: ignore[method-assign]


def wait_for_disk(is_wanted: bool) -> None:
    """Whether commits of the connections that are opened from now on survive a loss of power, as the product's do."""
    if connection.vendor == "sqlite":
        unwanted, wanted = ("OFF", "FULL") if is_wanted else ("FULL", "OFF")
        options = connection.settings_dict["OPTIONS"]
        options["init_command"] = options["init_command"].replace(f"synchronous={unwanted}", f"synchronous={wanted}")


def _copy(source: Path, target: Path) -> None:
    """As a new file: whoever still has the old one open goes on with that."""
    fresh = target.with_suffix(".fresh")
    shutil.copyfile(source, fresh)
    for journal in ("-wal", "-shm"):
        target.with_name(target.name + journal).unlink(missing_ok=True)
    fresh.replace(target)
