"""Run by test_disk_full.py, where SMALL_DISKS has two disks of a few megabytes: one of files, one of the database."""

import os
import shutil
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection

from experiments.engine.driver import Driver
from experiments.models import Export, Message, Run, Upload
from experiments.runs.reports import jobs
from tests.fixtures import signed_in

DISK, OF_DATABASE = Path(os.environ["SMALL_DISKS"], "files"), Path(os.environ["SMALL_DISKS"], "database")
pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def full(disk, left=16_384):
    """Within it the disk has no more than so many bytes left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        with suppress(OSError):
            while file.write(b"\0" * 4096):
                pass
        os.truncate(ballast, max(0, ballast.stat().st_size - left))
    try:
        yield
    finally:
        ballast.unlink()


@pytest.fixture(autouse=True)
def on_the_small_disk(settings):
    for folder in DISK.iterdir():
        shutil.rmtree(folder)
    for name in ("IMAGES", "UPLOADS", "EXPORTS"):
        setattr(settings, f"{name}_DIR", DISK / name.lower())


@pytest.fixture
def run(arena, start, drive):
    made = start(arena(max_turns=1, judge=False, filter=False))
    drive()
    return made


def files():
    return [path for path in DISK.rglob("*") if path.is_file() and path.name != "ballast"]


def test_an_export_that_finds_no_room_says_so_leaves_no_half_file_and_is_made_later(run, alice):
    file = {"owner": alice, "format": "json", "language": "en", "name": "a.json", "last_seq": run.last_seq}
    Message.objects.filter(run=run).update(text="word " * 100_000)
    first = Export.objects.create(run=run, **file)

    with full(DISK):
        jobs.make_all(threading.Event())
        first.refresh_from_db()
        browser = signed_in(alice)
        assert first.state == Export.State.FAILED
        assert "disk is full" in first.error
        assert files() == []
        assert browser.get(f"/files/{first.pk}/download/").status_code in {302, 404}

    first.delete()
    second = Export.objects.create(run=run, **file)
    jobs.make_all(threading.Event())
    second.refresh_from_db()
    assert second.state == Export.State.DONE
    assert second.path.stat().st_size == second.size


def test_an_upload_that_finds_no_room_is_refused_in_words_and_taken_later(alice):
    browser, lines = signed_in(alice), b'{"instruction": "a"}\n' * 60_000

    def send():
        file = SimpleUploadedFile("tasks.jsonl", lines, "application/jsonl")
        return browser.post("/datasets/new/", {"file": file, "kind": "samples", "name": "Tasks"})

    with full(DISK):
        refused = send()
        assert refused.status_code in {200, 400, 422}
        assert "disk is full" in refused.content.decode()
        assert files() == []
        assert Upload.objects.count() == 0

    send()
    assert Upload.objects.get().path.read_bytes() == lines


def test_a_backup_that_finds_no_room_leaves_nothing_and_keeps_the_last_one(run):
    kept = DISK / "kept" / "kept.zip"
    call_command("backup", str(kept))
    before = kept.read_bytes()

    with full(DISK), pytest.raises(CommandError, match="Nothing of it was kept"):
        call_command("backup", str(kept))

    assert files() == [kept]
    assert kept.read_bytes() == before


@contextmanager
def database_full():
    """Its log is emptied first: SQLite would go on in the room that it has."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with full(OF_DATABASE, left=0):
        yield


def test_a_page_that_cannot_be_recorded_says_why_and_pages_that_read_go_on(run, alice):
    browser = signed_in(alice)
    browser.raise_request_exception = False
    note = {"text": "It was said twice."}

    with database_full():
        refused = browser.post(f"/api/runs/{run.pk}/notes/", note, content_type="application/json")
        assert refused.status_code == 507
        assert "disk is full" in refused.json()["detail"]
        assert refused["Content-Type"] == "application/problem+json"
        assert browser.get(f"/runs/{run.pk}/").status_code == 200

    address = f"/api/runs/{run.pk}/notes/"
    assert browser.post(address, note, content_type="application/json").status_code == 201


def test_a_run_waits_for_room_in_the_database_and_goes_on(arena, start, woken_runs):
    run = start(arena(a="sim/cooperative:first=0:words=20000", max_turns=1, judge=False, filter=False))
    stop = threading.Event()

    with database_full():
        threading.Timer(2, stop.set).start()
        Driver(stop).drive(0.5)
        run.refresh_from_db()
        assert run.state in {Run.State.QUEUED, Run.State.RUNNING}, run.error

    Run.objects.update(lease_until=None)
    Driver(threading.Event()).drive(1)
    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
