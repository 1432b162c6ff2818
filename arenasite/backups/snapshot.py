"""One moment of the database, while others go on writing to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

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
    copy = beside.with_name(f".{beside.name}.sqlite3")
    options = dict(source.settings_dict)
    if source.vendor == "sqlite":
        _copy_sqlite(str(options["NAME"]), copy)
        options["NAME"] = str(copy)
    else:
        options["OPTIONS"] = {**options["OPTIONS"], "isolation_level": IsolationLevel.REPEATABLE_READ}
    connections[ALIAS] = load_backend(str(options["ENGINE"])).DatabaseWrapper(options, ALIAS)
    try:
        with transaction.atomic(using=ALIAS):
            if source.vendor == "postgresql":
                connections[ALIAS].cursor().execute("SET TRANSACTION READ ONLY")
            yield ALIAS
    finally:
        connections[ALIAS].close()
        del connections[ALIAS]
        for leftover in (copy, *(copy.with_name(copy.name + end) for end in ("-wal", "-shm"))):
            leftover.unlink(missing_ok=True)


def _copy_sqlite(database: str, copy: Path) -> None:
    """All pages in one step: whoever writes meanwhile is not kept waiting, and does not make it begin again."""
    copy.unlink(missing_ok=True)
    copy.touch(mode=0o600)
    with closing(sqlite3.connect(database)) as here, closing(sqlite3.connect(copy)) as there:
        here.backup(there)
