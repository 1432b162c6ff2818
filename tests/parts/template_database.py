"""The migrated database, made once and copied: migrating takes 9 CPU seconds, copying the file some milliseconds.

The copy is kept between runs under a name that depends on whatever a migration or a setting says. SQLite only.
"""

import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from django.test import TransactionTestCase

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".pytest_cache" / "databases"
SOURCES = ("*/migrations/*.py", "arenasite/settings.py", "accounts/scopes.py", "experiments/search/*.py")
MOST_KEPT = 4


def _template() -> Path:
    content = hashlib.sha256(django.__version__.encode())
    for path in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        content.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return KEPT / f"{content.hexdigest()[:20]}.sqlite3"


def _connect_to(path: Path) -> None:
    connections.close_all()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = str(path)


def _make(template: Path) -> None:
    unfinished = template.with_suffix(f".{os.getpid()}")
    _connect_to(unfinished)
    call_command("migrate", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connections.close_all()
    unfinished.rename(template)
    for old in sorted(KEPT.glob("*.sqlite3"), key=lambda path: path.stat().st_mtime)[:-MOST_KEPT]:
        old.unlink()


def set_up(database: Path) -> None:
    """Connect this process to a fresh copy at `database`, and let tests that commit go back to it afterwards."""
    template = _template()
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            _make(template)
        os.utime(template)
        own = database.with_name("template.sqlite3")
        shutil.copyfile(template, own)
    _copy(own, database)
    _connect_to(database)

    def restore(self: Any) -> None:
        connections.close_all()
        _copy(own, database)

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
