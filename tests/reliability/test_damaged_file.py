"""Bytes of the database's file are changed, pages lost or put in the place of others: `manage.py verify` says so of the
runs whose record is no longer what it was, and of no other.
"""

import contextlib
import io
import random
import shutil
import sqlite3
from collections import defaultdict
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from experiments.engine import verification

ROUNDS = 100
TABLES = ("experiments_event", "experiments_call")


@pytest.fixture
def file(transactional_db, arena, start, drive, settings, tmp_path):
    """Of a database with four runs that have ended, and nothing that is not yet in it."""
    settings.DATA_DIR = tmp_path
    for turns in (1, 2, 1):
        start(arena(max_turns=turns, judge=False, filter=False))
    drive()
    verification.note_heads()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return Path(connection.settings_dict["NAME"])


def rows_of_runs(file):
    """Of each run its events and calls; None where the file cannot be read."""
    rows = defaultdict(set)
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.text_factory = bytes
        try:
            for table in TABLES:
                for row in database.execute(f"SELECT CAST(run_id AS BLOB), * FROM {table}"):
                    rows[row[0].decode(errors="replace")].add((table, *row[1:]))
        except sqlite3.DatabaseError:
            return None
    return rows


def pages_of(file):
    with contextlib.closing(sqlite3.connect(file)) as database:
        [size] = database.execute("PRAGMA page_size").fetchone()
        pages = database.execute("SELECT name, pageno FROM dbstat").fetchall()
    return size, [number - 1 for name, number in pages if name.startswith(TABLES)]


def harm(file, dice, size, pages):
    at = size * dice.choice(pages)
    with file.open("r+b") as opened:
        if dice.random() < 0.6:
            at += dice.randrange(size)
            opened.seek(at)
            harmed = bytes([opened.read(1)[0] ^ 1 << dice.randrange(8)])
        elif dice.random() < 0.5:
            harmed = bytes(size)
        else:
            opened.seek(size * dice.choice(pages))
            harmed = opened.read(size)
        opened.seek(at)
        opened.write(harmed)


def verified():
    """Whether all is whole, and the runs that are named."""
    said = io.StringIO()
    try:
        call_command("verify", stdout=said)
    except CommandError:
        named = {line.split()[1].strip(":").replace("-", "") for line in said.getvalue().splitlines() if "Run " in line}
        return False, named
    finally:
        connection.close()
    return True, set()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the one file of SQLite is damaged")
def test_whatever_happens_to_the_file_the_runs_that_are_damaged_are_named_and_no_other(file, tmp_path):
    whole = shutil.copy(file, tmp_path / "whole")
    before, (size, pages) = rows_of_runs(file), pages_of(file)
    assert verified() == (True, set())
    harmed, wrong = 0, []
    for seed in range(ROUNDS):
        for journal in ("-wal", "-shm"):
            file.with_name(file.name + journal).unlink(missing_ok=True)
        shutil.copy(whole, file)
        harm(file, random.Random(seed), size, pages)
        after = rows_of_runs(file)
        changed = after and {run for run in before | after if before[run] != after[run]}
        is_whole, named = verified()
        harmed += changed is None or bool(changed)
        if is_whole and (changed is None or changed):
            wrong.append(f"{seed}: not noticed")
        if changed is not None and named - changed:
            wrong.append(f"{seed}: {named - changed} are whole")
    assert wrong == []
    assert harmed > ROUNDS / 2
