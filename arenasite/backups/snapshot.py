"""One moment of the database, while others go on writing to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.utils import load_backend
from psycopg import IsolationLevel

ALIAS = "snapshot"


@contextmanager
def snapshot(beside: Path) -> Iterator[str]:
    """The alias of a connection that sees the moment and changes nothing. Raises django.db.Error, OSError.

    PostgreSQL keeps the moment for a transaction. Of SQLite a copy is made `beside`: a transaction as long as a backup
    would keep its log from ever being emptied.
    """
    source = connections[DEFAULT_DB_ALIAS]
    if source.vendor == "sqlite":
        place = beside.with_name(f".{beside.name}.sqlite3")
        with (
            _copied(str(source.settings_dict["NAME"]), place),
            _connected({**source.settings_dict, "NAME": str(place)}),
        ):
            yield ALIAS
        return
    options = {**source.settings_dict["OPTIONS"], "isolation_level": IsolationLevel.REPEATABLE_READ}
    with _connected({**source.settings_dict, "OPTIONS": options}) as connection:
        connection.cursor().execute("SET TRANSACTION READ ONLY")
        yield ALIAS


@contextmanager
def _connected(options: dict[str, Any]) -> Iterator[Any]:
    connection = connections[ALIAS] = load_backend(options["ENGINE"]).DatabaseWrapper(options, ALIAS)
    try:
        with transaction.atomic(using=ALIAS):
            yield connection
    finally:
        connection.close()
        del connections[ALIAS]


@contextmanager
def _copied(database: str, copy: Path) -> Iterator[None]:
    """All pages in one step: whoever writes meanwhile is not kept waiting, and does not make it begin again."""
    leftovers = [copy, *(copy.with_name(copy.name + end) for end in ("-journal", "-wal", "-shm"))]
    try:
        copy.unlink(missing_ok=True)
        copy.touch(mode=0o600)
        with closing(sqlite3.connect(database)) as here, closing(sqlite3.connect(copy)) as there:
            here.backup(there)
        yield
    except sqlite3.Error as error:
        raise OSError(f"the copy of the database could not be made: {error}") from error
    finally:
        for leftover in leftovers:
            leftover.unlink(missing_ok=True)
