"""The worker's side: an upload is read once and whole, whoever dies over it; of files none is left behind or lost."""

import errno
import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.translation import get_language

from accounts.errors import Forbidden, Invalid
from experiments.library.datasets import images, making, process, reading, uploads, writing
from experiments.library.datasets.process import Refused
from experiments.models import Dataset, LogImport, Sample, Upload
from experiments.tasks import threads, waiting
from tests.experiments.datasets.files import packed, png, table
from tests.fixtures import environment, wait_until
from tests.making import maker

ROWS = table([{"index": number, "prompt": f"question {number}", "output_a": "x"} for number in range(30)])


@maker
def send(alice, /, name="a.csv", text=ROWS, **fields):
    file = SimpleUploadedFile(name, text.encode())
    return making.create(owner=alice, upload=file, **{"name": "Questions", **fields})


def again(dataset):
    return Dataset.objects.get(pk=dataset.pk)


def test_a_dataset_shows_how_far_it_is_read_or_why_not_in_its_owners_language(send, work, alice, monkeypatch):
    alice.language = "zh-hans"
    alice.save()
    monkeypatch.setattr(process, "sentence", lambda code, facts: f"{code} in {get_language()}")
    refused = send(text="x\n1\n")
    work()
    assert (again(refused).state, again(refused).refused_reason) == ("refused", "no_instruction in zh-hans")
    assert not Sample.objects.exists()
    assert not refused.uploads.get().folder.exists()

    read, dataset, seen = process.read, send(), []

    def in_steps(*file, heard, **orders):
        for share in (0.0, 0.5):
            heard(share)
            seen.append(again(dataset).progress)
        return read(*file, heard=heard, **orders)

    monkeypatch.setattr(process, "read", in_steps)
    work()

    assert seen == [0, writing.READ_SHARE / 2]
    assert again(dataset).progress == 1


def test_what_killed_three_workers_or_its_command_is_given_up_and_holds_nothing(send, alice):
    old = timezone.now() - timedelta(hours=1)
    by_command = Dataset.objects.create(owner=alice, name="x", slug="x", state="reading", beat=old)
    Sample.objects.create(dataset=by_command, index=0, instruction="half")
    dataset = send()
    upload = waiting.claim_next(Upload)
    Upload.objects.filter(pk=upload.pk).update(beat=old, attempt=waiting.MOST_ATTEMPTS)

    assert reading.sweep_uploads() == 0

    assert (again(dataset).state, again(by_command).state) == ("refused", "refused")
    assert "stopped 3 times" in again(dataset).refused_reason
    assert not Sample.objects.exists()

    unsaid = keep(alice)
    reading.sweep_uploads()
    assert unsaid.path.exists()
    Upload.objects.filter(pk=unsaid.pk).update(created=timezone.now() - timedelta(days=3))
    reading.sweep_uploads()
    assert not unsaid.folder.exists(), "nobody said how to read it"
    assert not Upload.objects.filter(pk=unsaid.pk).exists()


SLOW = """
import django; django.setup()
import threading, time
from django.conf import settings
from experiments.library.datasets import images, reading, writing
settings.IMAGES_DIR, settings.UPLOADS_DIR = {images!r}, {uploads!r}
writing.BATCH = 10
def slowly(dataset, checked, spool):
    if dataset.samples.exists():
        time.sleep(600)
images.take_over = slowly
reading.read_all(threading.Event())
"""


@pytest.mark.system
@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_a_killed_workers_dataset_is_read_again(send, work, settings):
    dataset = send()
    words = SLOW.format(images=str(settings.IMAGES_DIR), uploads=str(settings.UPLOADS_DIR))
    variables = environment() | {"DJANGO_SETTINGS_MODULE": "arenasite.settings", "PYTHONPATH": str(settings.BASE_DIR)}
    worker = subprocess.Popen([sys.executable, "-c", words], env=variables, cwd=settings.BASE_DIR)
    try:
        wait_until(lambda: dataset.samples.count() == 10 or worker.poll() is not None, "the first rows")
    finally:
        worker.kill()
        worker.wait()
    assert (dataset.samples.count(), dataset.uploads.get().state) == (10, "reading")
    Upload.objects.update(beat=timezone.now() - timedelta(hours=1))

    assert reading.sweep_uploads() == 1
    work()

    assert again(dataset).state == "ready"
    assert sorted(dataset.samples.values_list("index", flat=True)) == list(range(30))
    assert dataset.contestants.get().outputs.count() == 30
    assert dataset.uploads.get().attempt == 2


def test_the_bell_that_rings_twice_is_answered_by_one_thread(monkeypatch):
    begun, may_end = [], threading.Event()
    monkeypatch.setattr(reading, "read_all", lambda stop: (begun.append(1), may_end.wait()))
    monkeypatch.setattr(threads, "connections", type("None_", (), {"close_all": staticmethod(lambda: None)}))

    reading.read_uploads()
    reading.read_uploads()
    [reading_thread] = [one for one in threading.enumerate() if one.name == "datasets"]
    may_end.set()
    reading_thread.join()

    assert (begun, reading.thread.is_busy) == ([1], False)


def test_a_worker_that_is_asked_to_end_puts_it_back_and_one_whose_claim_was_taken_writes_nothing(send, monkeypatch):
    dataset, stop = send(), threading.Event()
    upload = waiting.claim_next(Upload)
    stop.set()

    reading.read(upload, stop)
    assert (upload.path.exists(), dataset.uploads.get().state, dataset.uploads.get().attempt) == (True, "waiting", 0)

    upload = waiting.claim_next(Upload)
    Upload.objects.filter(pk=upload.pk).update(attempt=7)  # somebody else's by now
    reading.read(upload, threading.Event())
    assert not dataset.samples.exists()
    assert (dataset.uploads.get().attempt, dataset.uploads.get().state) == (7, "reading")

    dataset, fair = send(), writing.Writer._write_samples
    upload = waiting.claim_next(Upload)
    monkeypatch.setattr(writing, "BATCH", 10)

    def rivalled(self, found):
        fair(self, found)
        Upload.objects.filter(pk=upload.pk).update(attempt=7)

    monkeypatch.setattr(writing.Writer, "_write_samples", rivalled)
    records = [SimpleNamespace(weight=writing.HEAVY // 2)] * 7
    assert [len(items) for items in writing.batches(records)] == [3, 3, 1], "long texts in smaller transactions"
    reading.read(upload, threading.Event())
    assert dataset.samples.count() == 10  # of the first transaction, which the next attempt takes away
    assert again(dataset).state == "reading"


def keep(owner):
    return uploads.keep(SimpleUploadedFile("a.csv", ROWS.encode()), owner=owner, kind="samples")


def grow_old(*paths):
    for path in paths:
        os.utime(path, (time.time() - 3 * uploads.DAY,) * 2)


def full(*_args, **_more):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_folders_that_nobody_knows_are_taken_away_and_those_in_use_stay(alice, settings, monkeypatch):
    root = Path(settings.UPLOADS_DIR)
    used, over = keep(alice), keep(alice)
    Upload.objects.filter(pk=over.pk).update(state="done")  # its worker was killed before it took the file away
    dataset = Dataset.objects.create(owner=alice, name="x", slug="x", state="ready")
    log = LogImport.objects.create(dataset=dataset, owner=alice, name="l", size=1)
    unknown = [root / "0197f0aa-0000-7000-8000-000000000000", root / "spool-abc", root / "logs" / str(over.pk)]
    kept = [root / "something of the admin's", log.folder, used.folder, root / "spool-young"]
    for folder in (*unknown, *kept):
        folder.mkdir(parents=True, exist_ok=True)
    grow_old(*unknown, *kept[:-1], over.folder)

    uploads.forget_uploads()

    assert [path.exists() for path in (*unknown, over.folder)] == [False] * 4
    assert all(path.exists() for path in (*kept, used.path))

    tidied, tidier = [], uploads.Tidier()
    monkeypatch.setattr(uploads, "tidy", lambda: tidied.append(1))
    for seconds, times in ((0, 1), (1, 1), (uploads.EVERY_SECONDS - 10, 1), (10, 2), (1, 2)):
        time.sleep(seconds)
        tidier.look()
        assert len(tidied) == times, "every ten minutes, and not with every sweep"


def test_a_full_disk_leaves_nothing_and_few_files_may_wait(alice, charlie, load, tmp_path, monkeypatch, settings):
    with monkeypatch.context() as disk:
        disk.setattr(SimpleUploadedFile, "chunks", full)
        with pytest.raises(Invalid, match="The server's disk is full"):
            keep(alice)
        disk.setattr(images.shutil, "copyfileobj", full)
        with pytest.raises(Refused, match="The server's disk is full"):
            load(packed(tmp_path / "set.zip", {"a/0.png": png()}), modality="image")
    assert not Upload.objects.exists()
    assert list(Path(settings.UPLOADS_DIR).iterdir()) == []
    assert [path for path in Path(settings.IMAGES_DIR).rglob("*") if path.is_file()] == []

    settings.UPLOAD_BYTES = len(ROWS) + 10
    kept = [keep(alice) for _file in range(uploads.UNREAD)]
    with pytest.raises(Invalid, match="Your other files are not read yet"):
        keep(alice)
    assert keep(charlie).path.exists()
    Upload.objects.filter(pk=kept[0].pk).update(state="done")
    assert keep(alice).path.exists()


def test_a_dataset_is_not_deleted_under_who_reads_it_and_one_deleted_half_is_by_the_next_try(alice, work, monkeypatch):
    dataset = making.create(owner=alice, name="Questions", upload=keep(alice))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(making, "what_rests_on", lambda _dataset: bool(waiting.claim_next(Upload)) and "")
        with pytest.raises(Forbidden, match="It is being read"):
            making.remove(dataset, by=alice)
    assert Dataset.objects.get().state == "waiting"
    assert dataset.uploads.get().path.exists()

    Upload.objects.update(state="waiting", attempt=0)
    work()
    dataset.refresh_from_db()
    with monkeypatch.context() as disk:
        disk.setattr(making, "empty", full)
        with pytest.raises(OSError, match="space"):
            making.remove(dataset, by=alice)
    half = Dataset.objects.get()
    assert (half.state, half.refused_reason) == ("refused", "It is being deleted.")
    making.remove(half, by=alice)
    assert not Dataset.objects.exists()
    assert not Sample.objects.exists()


def test_whoever_works_long_says_so_all_the_time(alice, work, monkeypatch):
    """Checking and taking away what a first attempt had written may take longer than a worker may be silent."""
    beats, told = [], []
    fair, held = waiting.Progress.__call__, waiting.Progress.write
    monkeypatch.setattr(waiting.Progress, "__call__", lambda self, share: (beats.append(share), fair(self, share)))
    monkeypatch.setattr(waiting.Progress, "write", lambda self, share: (told.append(share), held(self, share)))
    dataset = making.create(owner=alice, name="Questions", upload=keep(alice))
    Sample.objects.bulk_create(Sample(dataset=dataset, index=n, instruction="half") for n in range(1200))
    monkeypatch.setattr("experiments.library.datasets.writing.SEEN_AT_ONCE", 10)

    work()

    assert beats.count(0) >= 3  # for each 500 samples that were taken away
    assert len(told) > 30 // 10 + 30 // writing.BATCH
    assert Dataset.objects.get().state == "ready"


@pytest.mark.databases
def test_two_uploads_of_one_name_at_once_are_two_datasets_and_one_sent_off_twice_is_one(alice, monkeypatch):
    monkeypatch.setattr(making, "free_slug", lambda name: "questions")  # both looked before either was there
    uploaded = [keep(alice) for _time in range(2)]

    first, second = (making.create(owner=alice, name="Questions", upload=one) for one in uploaded)
    with pytest.raises(Invalid, match="already being read"):
        making.create(owner=alice, name="Questions", upload=uploaded[0])

    assert first.slug == "questions"
    assert second.slug.startswith("questions-")
    assert Dataset.objects.count() == 2


def test_pictures_without_a_row_are_taken_away_and_one_that_lost_its_bytes_is_written_again(load, tmp_path):
    path = packed(tmp_path / "set.zip", {"a/0.png": png()})
    load(path, modality="image")
    kept = images.Image.objects.get().path
    kept.write_bytes(b"")  # the machine lost its power
    load(path, modality="image", name="Again")
    assert kept.read_bytes() == png()
    part, lost = kept.with_name(f"{kept.name}.1.part"), kept.with_name(f"{kept.name[:2]}{'0' * 62}")
    for unknown in (part, lost):
        unknown.write_bytes(b"x")
    grow_old(part, lost, kept)

    uploads.forget_pictures(kept.parent)

    assert list(kept.parent.iterdir()) == [kept]
