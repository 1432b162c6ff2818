"""What is restored from a backup is what was there, on either database; and how old it is goes on record."""

import itertools
import json
import os
import sqlite3
import uuid
import zipfile
from datetime import UTC, datetime, timedelta

import django_rq
import psycopg
import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from rq import SimpleWorker

from accounts.crypto import encrypt
from accounts.models import AuditEntry
from arenasite.backups import archive as archives
from arenasite.backups import restoring, taking
from arenasite.backups.archive import BackupRefused, Reader, tables, writing
from experiments.engine import leases, recording
from experiments.lab.observing import backups
from experiments.lab.observing.counting import BACKUP
from experiments.library.datasets import images
from experiments.models import Call, Execution, Image, Instrument, Message, Passage, Provider, ProviderKey, Run, Step
from experiments.runs import actions
from leaderboard.boards import compute
from leaderboard.models import RatingPoint, Standing
from tests.arenasite.platforms import manage, with_tables
from tests.environment import WANTS_POSTGRES
from tests.experiments.datasets.files import png
from tests.experiments.engine.crashes import PowerCut, expire_leases, transcript
from tests.experiments.observing.conftest import figures, nothing_counted
from tests.fixtures import signed_in
from tests.leaderboard import boards

__all__ = ["figures", "nothing_counted"]
pytestmark = pytest.mark.django_db(transaction=True)  # those of the whole `lab` are system tests

ODD = {"z": 1e22, "a": [-0.0, 1e-7, 12345678901234567890, None, "é\u2028=1+1"], "m": {"y": 1, "b": True}}


@pytest.fixture
def lab(arena, start, drive, alice):
    """Something of everything: a run that was played, a ladder, a picture, a key, values that databases write anew."""
    run = start(arena(judge=True, max_turns=1))
    drive()
    run.messages.update(parsed=ODD)
    ladder = compute.ensure_ladder(boards.board_of(alice, [("a", "b", "left"), ("b", "c", "left"), ("a", "c", "tie")]))
    compute.refresh(ladder)
    RatingPoint.objects.create(
        ladder=ladder, at=run.created, name="a", rating=1012.25, lower=None, upper=1e16, battles=3
    )
    ProviderKey.objects.create(provider=Provider.objects.get(), owner=alice, ciphertext=encrypt("sk-canary"))
    step = Step.objects.create(run=run, key="execute/1", kind="execute")
    limits = {"seconds_limit": 1, "memory_limit": 1}
    Execution.objects.create(run=run, step=step, turn=1, tests=[{"z": 1.0, "a": "first"}], **limits)
    images.store(png())
    return run


def contents(path):
    """What must be equal between two backups of the same, as values: databases write numbers and names anew."""
    archive = Reader(path)

    def even(row):
        return json.dumps(json.loads(json.dumps(row), parse_int=_number, parse_float=_number), sort_keys=True)

    rows = {name: sorted(map(even, archive.lines(name))) for name in archive.names("tables/")}
    return {**rows, **{part: archive.manifest[part] for part in ("migrations", "files")}}


def _number(text):
    return float(text) + 0.0  # of which there is no negative one


def elsewhere(tmp_path, kind="sqlite", *, has_tables=False):
    """The variables of a platform that has no rows yet, on a new database of this kind."""
    data = tmp_path / f"data-{uuid.uuid4().hex[:8]}"
    here = {"ARENA_DATA": str(data), "REDIS_URL": settings.REDIS_URL}
    if kind == "sqlite":
        if has_tables:
            with_tables(data)
        return here
    name = f"restored_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template")
    return {**here, "DATABASE_URL": os.environ["DATABASE_URL"].replace("/postgres?", f"/{name}?")}


@pytest.mark.databases
def test_what_is_restored_is_the_same_row_by_row_and_everything_is_found_again(lab, backup, idle, monkeypatch):
    kept, words = backup(), transcript(lab)
    actions.start(lab.experiment, by=lab.experiment.owner, seed=9)
    Message.objects.filter(run=lab).update(text="altered")
    Standing.objects.update(data={})

    call_command("restore", str(kept), "--replace")

    assert transcript(Run.objects.get()) == words
    assert contents(backup()) == contents(kept)
    assert Passage.objects.filter(message__run=lab.pk).count() >= len(words)
    assert Image.objects.get().path.read_bytes() == png()
    run = Run.objects.get()
    [again] = actions.start(run.experiment, by=run.experiment.owner, seed=8)  # new rows get numbers that are free
    Step.objects.create(run=again, key="first", kind="ask")
    assert Execution.objects.get().tests == [{"z": 1.0, "a": "first"}]
    assert list(Execution.objects.get().tests[0]) == ["z", "a"]

    original = taking._put_table

    def meanwhile(archive, table):
        if table.name == "experiments.event":  # before the messages are read
            Message.objects.all().delete()
        return original(archive, table)

    monkeypatch.setattr(taking, "_put_table", meanwhile)
    told = Reader(backup()).manifest
    assert Message.objects.count() == 0, "it does not wait for writers, and sees one moment"
    assert told["tables"]["experiments.message"]["rows"] == len(words) > 0


@pytest.mark.databases
def test_a_backup_fits_a_database_of_the_other_kind_and_lets_nobody_of_a_demonstration_in(lab, backup, tmp_path, alice):
    """PostgreSQL to SQLite and back; from SQLite, to another SQLite."""
    type(alice).objects.filter(pk=alice.pk).update(email="researcher@demo.invalid")
    kept = backup()
    for number, kind in enumerate(["sqlite", "postgresql"][: 1 + WANTS_POSTGRES]):
        where, again = elsewhere(tmp_path, kind, has_tables=True), tmp_path / f"again-{number}.zip"

        restored = manage("restore", str(kept), "--replace", **where)
        assert restored.returncode == 0, restored.stderr
        assert "1 stored provider keys cannot be read" in restored.stdout + restored.stderr
        assert manage("backup", str(again), **where).returncode == 0

        found, before = contents(again), contents(kept)
        changed = {name for name in before if found[name] != before[name]}
        deactivated = set() if number else {"tables/accounts.user.jsonl"}  # people of a demonstration, at once
        assert changed == deactivated
        assert Reader(again).manifest["database"] == kind
        columns = Reader(again).manifest["tables"]["accounts.user"]["columns"]
        [person] = Reader(again).lines("tables/accounts.user.jsonl")
        assert person[columns.index("is_active")] is False
        kept = again


@pytest.mark.system
@pytest.mark.databases
def test_a_live_run_goes_on_and_repeats_nothing(arena, start, drive, provider, backup, idle, monkeypatch):
    """The machine burns down right after the backup, which was taken in the middle of a run's third call."""
    run, kept, closed = start(arena(max_turns=2, filter=False, judge=False)), [], itertools.count()

    def burning(*args, original=recording.close_call, **kwargs):
        if next(closed) == 2:
            kept.append(backup())
            raise PowerCut
        return original(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(recording, "close_call", burning)
        patch.setattr(leases, "release", lambda run_id, fence: None)
        with pytest.raises(PowerCut):
            drive()
    before = transcript(run)

    Message.objects.filter(run=run).update(text="burnt")
    call_command("restore", str(kept[0]), "--replace")
    expire_leases()
    drive()

    assert Reader(kept[0]).manifest["live_runs"] == 1
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert transcript(run)[: len(before)] == before
    assert len(before) == 2
    by_state = [run.calls.filter(state=state).count() for state in (Call.State.COMPLETED, Call.State.LOST)]
    assert by_state == [4, 1]
    assert len([row for row in provider.ledger() if row["request_id"]]) == 5  # four, and the one that was in flight


def test_a_database_that_was_only_migrated_is_empty(django_user_model):
    assert Instrument.objects.exists()
    restoring._require_empty()

    django_user_model.objects.create_user("anna")
    with pytest.raises(BackupRefused, match="not empty"):
        restoring._require_empty()


def test_a_restore_that_is_refused_or_fails_in_the_middle_changes_nothing(lab, backup, idle, monkeypatch, tmp_path):
    kept = backup()
    with monkeypatch.context() as patch:
        patch.setattr(taking, "_migrations", lambda: [["experiments", "9999_of_tomorrow"]])
        newer = backup()
    Message.objects.filter(run=lab).update(text="newer than the backup")
    words, whole = transcript(lab), kept.read_bytes()

    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(kept))
    with pytest.raises(CommandError, match=r"newer version, with experiments\.9999_of_tomorrow"):
        call_command("restore", str(newer), "--replace")
    with monkeypatch.context() as patch:
        patch.setattr(archives.Table, "count", lambda *_: -1)
        with pytest.raises(CommandError, match="as it was"):
            call_command("restore", str(kept), "--replace")
    worker = SimpleWorker([django_rq.get_queue("reports")], connection=django_rq.get_connection("reports"))
    worker.register_birth()
    try:
        with pytest.raises(CommandError, match="stop the platform first"):
            call_command("restore", str(kept), "--replace")
    finally:
        worker.register_death()

    start = whole.index(b"tables/experiments.message.jsonl") + 200
    spoiled = {
        "cut": whole[: len(whole) // 2],
        "cut at its end": whole[:-1],
        "empty": b"",
        "altered": whole[:start] + bytes([whole[start] ^ 1]) + whole[start + 1 :],
        "something else": b"{}" * 1000,
    }
    for name, data in spoiled.items():
        path = tmp_path / name
        path.write_bytes(data)
        for command in (["verify_backup", str(path)], ["restore", str(path), "--replace"]):
            with pytest.raises(CommandError, match="no whole backup"):
                call_command(*command)
    assert transcript(lab) == words

    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(kept) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b"alice", b"mallo") if name == "tables/accounts.user.jsonl" else data)
    with pytest.raises(BackupRefused, match=r"accounts\.user\.jsonl was altered"):
        Reader(forged)


def test_the_secrets_of_the_lab_are_inside_only_when_asked_for(lab, backup, settings, idle, tmp_path, capsys):
    def everything(path):
        with zipfile.ZipFile(path) as archive:
            return b"".join(archive.read(name) for name in archive.namelist())

    secrets = [settings.SECRET_KEY.encode(), *(secret.encode() for secret in settings.KEY_SECRETS)]
    plain, full, lines = backup(), backup("--with-secrets"), tmp_path / "secrets.env"

    assert not any(secret in everything(plain) for secret in [*secrets, b"sk-canary"])
    assert all(json.dumps(secret.decode()).encode() in everything(full) for secret in secrets)
    assert full.stat().st_mode & 0o077 == plain.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="has no secrets inside"):
        call_command("restore", str(plain), "--replace", "--secrets-to", str(lines))
    call_command("restore", str(full), "--replace", "--secrets-to", str(lines))
    assert f"ARENA_SECRET_KEY={settings.SECRET_KEY}" in lines.read_text().splitlines()
    assert lines.stat().st_mode & 0o077 == 0
    assert "cannot be read" not in capsys.readouterr().err


def as_of_before(kept, path):
    """The same backup as the release before some migrations were replaced by one would have taken it."""
    [newest] = MigrationLoader(connection).graph.leaf_nodes("experiments")
    loader = MigrationLoader(connection, replace_migrations=False)
    before = ("experiments", "0024_submitted_and_returned")
    nodes = [before, ("accounts", "0015_renamed_archived_deleted")]
    nodes += [leaf for leaf in loader.graph.leaf_nodes() if leaf[0] not in ("experiments", "accounts")]
    earlier, new = loader.project_state(nodes).apps, Reader(kept)
    told = {**new.manifest, "migrations": [list(node) for node in nodes], "tables": {}}
    with writing(path) as archive:
        for table in tables(earlier, "default"):
            columns = new.manifest["tables"][table.name]["columns"]
            known = [name for name in columns if name in table.columns]  # in the sequence of the class, as it was
            with archive.entry(f"tables/{table.name}.jsonl") as entry:
                for full in new.lines(f"tables/{table.name}.jsonl"):
                    row = [full[columns.index(name)] for name in known]
                    entry.write(json.dumps(row).encode() + b"\n")
            told["tables"][table.name] = {**new.manifest["tables"][table.name], "columns": known}
        with archive.entry("tables/accounts.commonmark.jsonl") as entry:  # which is not kept any more
            entry.write(b'["redis", "0", "2026-01-01T00:00:00+00:00"]\n')
        told["tables"]["accounts.commonmark"] = {"columns": ["name", "mark", "changed"], "rows": 1}
        archive.finish({name: part for name, part in told.items() if name not in {"format", "entries", "digest"}})
    return before, newest


@pytest.mark.system
def test_it_is_restored_without_redis_at_its_own_tables_and_brought_up_to_date(arena, start, drive, backup, tmp_path):
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


def test_page_figure_and_api_say_how_old_the_backup_on_record_is_and_whether_it_was_verified(admin, figures, tmp_path):
    boss = signed_in(admin)

    def page():
        caches["memory"].clear()
        return boss.get("/operator/now/").content.decode()

    assert "manage.py backup" in page()
    assert (BACKUP.name,) not in figures()
    (tmp_path / "file").touch()
    with pytest.raises(CommandError):
        call_command("backup", str(tmp_path / "file" / "arena.zip"))
    assert backups.last() is None, "one that was refused is not on record"

    call_command("backup", str(taken := tmp_path / "arena.zip"))
    entry = AuditEntry.objects.get(target=backups.TARGET)
    assert (entry.name, entry.actor_id, entry.action) == ("arena.zip", None, AuditEntry.Action.EXPORTED)
    sha256 = Reader(taken).manifest["digest"]
    assert entry.detail == {"command": "backup", "bytes": taken.stat().st_size, "sha256": sha256}
    assert "arena.zip" in page()
    assert "not verified" in page()
    at = figures()[BACKUP.name,]
    assert timezone.now() - timedelta(minutes=5) < datetime.fromtimestamp(at, UTC) <= timezone.now()
    told = boss.get("/api/operator/").json()["last_backup"]
    assert (told["name"], told["size"], told["verified"]) == ("arena.zip", taken.stat().st_size, None)

    call_command("verify_backup", str(taken))
    assert "not verified" not in page()


def test_a_verification_holds_for_the_backup_that_was_read_wherever_it_lies(backup, tmp_path):
    older, newer = backup(), backup()
    call_command("verify_backup", str(older))
    assert (backups.last().name, backups.last().verified) == (newer.name, None)
    copy = newer.rename(tmp_path / "copy.zip")
    whole = copy.read_bytes()

    copy.write_bytes(whole[:-20])
    with pytest.raises(CommandError):
        call_command("verify_backup", str(copy))
    assert backups.last().verified is None

    copy.write_bytes(whole)
    call_command("verify_backup", str(copy))
    assert backups.last().verified


@pytest.mark.system
def test_where_there_is_no_database_it_is_verified_all_the_same_and_none_is_made(backup, tmp_path):
    done = manage("verify_backup", str(backup()), ARENA_DATA=str(tmp_path / "data"))

    assert done.returncode == 0
    assert "Whole:" in done.stdout
    assert "not on record" in done.stderr
    assert not list(tmp_path.glob("data/**/*.sqlite3"))
