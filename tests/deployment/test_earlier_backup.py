"""A backup that an earlier version took goes into a new database, and is brought up to date there."""

import sqlite3

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from arenasite.backups.archive import Reader, writing
from arenasite.backups.findings import findings
from arenasite.backups.rows import Tally, canonical, line, tables
from tests.arenasite.platforms import manage
from tests.deployment.test_backup import elsewhere

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.system]


def as_of_before(kept, path):
    """The same backup as the code before the newest migration of `experiments` would have taken it."""
    loader = MigrationLoader(connection)
    [newest] = loader.graph.leaf_nodes("experiments")
    before = next(node.key for node in loader.graph.node_map[newest].parents if node.key[0] == "experiments")
    nodes = [before if leaf == newest else leaf for leaf in loader.graph.leaf_nodes()]
    earlier, new = loader.project_state(nodes).apps, Reader(kept)
    told = {**new.manifest, "migrations": [list(node) for node in nodes], "tables": {}, **findings(apps, "default")}
    with writing(path) as archive:
        for table in tables(earlier, "default"):
            columns, tally = new.manifest["tables"][table.name]["columns"], Tally()
            with archive.entry(f"tables/{table.name}.jsonl") as entry:
                for full in new.lines(f"tables/{table.name}.jsonl"):
                    row = [full[columns.index(name)] for name in table.columns]
                    tally.add(canonical(row))
                    entry.write(line(row).encode() + b"\n")
            told["tables"][table.name] = {"columns": table.columns, **tally.said()}
        archive.finish({name: part for name, part in told.items() if name not in {"format", "entries", "digest"}})
    return before, newest


def test_it_is_restored_where_no_redis_is_at_its_own_tables_and_brought_up_to_date(
    arena, start, drive, backup, tmp_path
):
    run, earlier = start(arena(max_turns=1, judge=False, filter=False)), tmp_path / "earlier.zip"
    drive()
    before, newest = as_of_before(backup(), earlier)
    where = elsewhere(tmp_path) | {"REDIS_URL": f"unix://{tmp_path}/nobody.sock"}

    restored = manage("restore", str(earlier), **where)

    assert restored.returncode == 0, restored.stderr
    with sqlite3.connect(f"{where['ARENA_DATA']}/arena.sqlite3") as database:
        applied = set(database.execute("SELECT app, name FROM django_migrations"))
        words = database.execute("SELECT raw_text FROM experiments_message ORDER BY seq").fetchall()
    assert {before, newest} <= applied
    assert words == [(message.raw_text,) for message in run.messages.all()]
