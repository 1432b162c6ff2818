"""A backup is taken: everything as it was at one moment, while runs go on."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypedDict

from django.apps import apps
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import load_backend
from django.utils import timezone
from psycopg import IsolationLevel

from accounts.errors import Unavailable
from arenasite.backups.archive import FILES, LEFT_OUT, OURS, SECRETS, BackupRefused, Table, Writer, tables, writing
from experiments.models import shared_files

SNAPSHOT = "snapshot"  # the alias of a connection that sees one moment
LIVE = ("queued", "running", "waiting", "stopping")


class TableEntry(TypedDict):
    columns: list[str]
    rows: int


class Manifest(TypedDict):
    """migrations: the last of each app. tables: by their names. files: how many."""

    made: str
    database: str
    migrations: list[list[str]]
    tables: dict[str, TableEntry]
    left_out: list[str]
    live_runs: int
    files: int
    has_secrets: bool
    has_exports: bool


def take(to: Path, *, with_secrets: bool = False, with_exports: bool = False) -> tuple[Path, Manifest, str]:
    """Where it is, what is in it, and the digest of that. to: the file, or a directory in which it is named by the
    time; a name without a suffix is a directory, which is made. Raises BackupRefused.
    """
    now = timezone.now()
    path = to if to.suffix and not to.is_dir() else to / f"arena-{now:%Y%m%dT%H%M%SZ}.zip"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        runs = apps.get_model("experiments", "run")._base_manager
        with writing(path) as archive, _snapshot(path):
            manifest = Manifest(
                made=now.isoformat(),
                database=connections[SNAPSHOT].vendor,
                migrations=_migrations(),
                tables={table.name: _put_table(archive, table) for table in tables(apps, SNAPSHOT)},
                left_out=sorted(LEFT_OUT),
                live_runs=runs.using(SNAPSHOT).filter(state__in=LIVE).count(),
                files=_put_files(archive, places(with_exports=with_exports)),
                has_secrets=with_secrets,
                has_exports=with_exports,
            )
            if with_secrets:
                with archive.entry(SECRETS) as entry:
                    secrets = {"secret_key": settings.SECRET_KEY, "key_secrets": settings.KEY_SECRETS}
                    entry.write(json.dumps(secrets).encode())
            digest = archive.finish(manifest)
    except (DatabaseError, sqlite3.Error, OSError, Unavailable) as error:
        raise BackupRefused(
            f"The backup could not be written to {path}: {str(error).strip()}. Nothing of it was kept; make room, or "
            "name another place."
        ) from error
    return path, manifest, digest


def places(*, with_exports: bool) -> dict[str, Path]:
    """Where the files are that belong to rows: pictures, uploads that wait, and, if asked for, finished exports."""
    kept = {"images": Path(settings.IMAGES_DIR), "uploads": Path(settings.UPLOADS_DIR)}
    return kept | ({"exports": Path(settings.EXPORTS_DIR)} if with_exports else {})


@contextmanager
def _snapshot(beside: Path) -> Iterator[None]:
    """One moment of the database, while others go on writing to it, behind the alias SNAPSHOT.

    PostgreSQL keeps the moment for a transaction. Of SQLite a copy is made `beside`, all pages in one step: whoever
    writes meanwhile is not kept waiting, and a transaction as long as a backup would keep its log from being emptied.
    """
    source = connections[DEFAULT_DB_ALIAS].settings_dict
    if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
        options = {**source["OPTIONS"], "isolation_level": IsolationLevel.REPEATABLE_READ}
        with _connected({**source, "OPTIONS": options}) as connection:
            connection.cursor().execute("SET TRANSACTION READ ONLY")
            yield
        return
    copy = beside.with_name(f".{beside.name}.sqlite3")
    try:
        copy.unlink(missing_ok=True)
        copy.touch(mode=0o600)
        with closing(sqlite3.connect(str(source["NAME"]))) as here, closing(sqlite3.connect(copy)) as there:
            here.backup(there)
        with _connected({**source, "NAME": str(copy)}):
            yield
    finally:
        for end in ("", "-journal", "-wal", "-shm"):
            copy.with_name(copy.name + end).unlink(missing_ok=True)


@contextmanager
def _connected(options: dict[str, Any]) -> Iterator[Any]:
    connection = connections[SNAPSHOT] = load_backend(options["ENGINE"]).DatabaseWrapper(options, SNAPSHOT)
    try:
        with transaction.atomic(using=SNAPSHOT):
            yield connection
    finally:
        connection.close()
        del connections[SNAPSHOT]


def _migrations() -> list[list[str]]:
    """The last of each app. Raises BackupRefused for a database of another version than this code's."""
    executor = MigrationExecutor(connections[SNAPSHOT])
    leaves = executor.loader.graph.leaf_nodes()
    known = set(executor.loader.disk_migrations)
    newer = {node for node in executor.loader.applied_migrations if node[0] in OURS} - known
    if newer or executor.migration_plan(leaves):
        raise BackupRefused(
            "The database is of another version than this code: take the backup with the code that it belongs to, or "
            "run `manage.py migrate` first."
        )
    return [list(leaf) for leaf in leaves]


def _put_table(archive: Writer, table: Table) -> TableEntry:
    rows = 0
    with archive.entry(f"tables/{table.name}.jsonl") as entry:
        for line in table.lines(SNAPSHOT):
            entry.write(line)
            rows += 1
    return {"columns": table.columns, "rows": rows}


def _put_files(archive: Writer, roots: dict[str, Path]) -> int:
    """How many there were. Taken after the rows: what was added since is harmless, and what goes meanwhile is gone.
    Links are not followed, and drafts (they begin with a dot) are nobody's yet.
    """
    count = 0
    for name, root in roots.items():
        for path, file in shared_files.below(root):
            with archive.entry(f"{FILES}{name}/{path.relative_to(root).as_posix()}") as entry:
                shutil.copyfileobj(file, entry)
            count += 1
    return count
