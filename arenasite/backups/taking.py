"""A backup is taken: everything as it was at one moment, while runs go on."""

import json
from datetime import datetime
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from arenasite.backups import files
from arenasite.backups.archive import Writer, writing
from arenasite.backups.errors import BackupRefused
from arenasite.backups.findings import Findings, findings
from arenasite.backups.rows import LEFT_OUT, OURS, Table, Tallied, Tally, canonical, line, tables
from arenasite.backups.snapshot import snapshot

SECRETS = "secrets.json"
LIVE = ("queued", "running", "waiting", "stopping")


class TableTold(Tallied):
    columns: list[str]


class Rows(Findings):
    """What the manifest says of the rows. migrations: the last of each app. tables: by their names."""

    made: str
    database: str
    migrations: list[list[str]]
    tables: dict[str, TableTold]
    left_out: list[str]
    live_runs: int


class Told(Rows):
    """files: how many."""

    files: int
    has_secrets: bool
    has_exports: bool


class Manifest(Told):
    digest: str


def take(to: Path, *, with_secrets: bool = False, with_exports: bool = False) -> tuple[Path, Manifest]:
    """Where it is, and what is in it. to: the file, or a directory in which it is named by the time; a name without a
    suffix is a directory, which is made. Raises BackupRefused.
    """
    now = timezone.now()
    path = to if to.suffix and not to.is_dir() else to / f"arena-{now:%Y%m%dT%H%M%SZ}.zip"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as archive, snapshot(path) as using:
            rows = _rows(archive, using, now)
            kept = files.put_all(archive, with_exports=with_exports)
            if with_secrets:
                _put_secrets(archive)
            told: Told = {**rows, "files": kept, "has_secrets": with_secrets, "has_exports": with_exports}
            digest = archive.finish(told)
    except (DatabaseError, OSError) as error:
        raise BackupRefused(f"The backup could not be taken: {str(error).strip()}. Nothing of it was kept.") from error
    return path, {**told, "digest": digest}


def _rows(archive: Writer, using: str, now: datetime) -> Rows:
    state = _migrations(using)
    counts = {table.name: _table(archive, table, using) for table in tables(apps, using)}
    return {
        "made": now.isoformat(),
        "database": connections[using].vendor,
        "migrations": state,
        "tables": counts,
        "left_out": sorted(LEFT_OUT),
        "live_runs": apps.get_model("experiments", "run")._base_manager.using(using).filter(state__in=LIVE).count(),
        **findings(apps, using),
    }


def _table(archive: Writer, table: Table, using: str) -> TableTold:
    tally = Tally()
    with archive.entry(f"tables/{table.name}.jsonl") as entry:
        for row in table.rows(using):
            tally.add(canonical(row))
            entry.write(line(row).encode() + b"\n")
    return {"columns": table.columns, **tally.said()}


def _migrations(using: str) -> list[list[str]]:
    """The last of each app. Raises BackupRefused for a database of another version than this code's."""
    executor = MigrationExecutor(connections[using])
    leaves = executor.loader.graph.leaf_nodes()
    newer = {node for node in executor.loader.applied_migrations if node[0] in OURS} - set(executor.loader.graph.nodes)
    if newer or executor.migration_plan(leaves):
        raise BackupRefused(
            "The database is of another version than this code: take the backup with the code that it belongs to, or "
            "run `manage.py migrate` first."
        )
    return [list(leaf) for leaf in leaves]


def _put_secrets(archive: Writer) -> None:
    with archive.entry(SECRETS) as entry:
        entry.write(json.dumps({"secret_key": settings.SECRET_KEY, "key_secrets": settings.KEY_SECRETS}).encode())
