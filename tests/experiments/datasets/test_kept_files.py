"""Files on the disk: none is left behind, nobody fills it, and a full one is said."""

import errno
import os
import time
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.errors import Forbidden, Invalid
from experiments.library.datasets import images, making, uploads, writing
from experiments.library.datasets.process import Refused
from experiments.models import Dataset, LogImport, Sample, Upload
from experiments.tasks import waiting
from tests.experiments.datasets.files import packed, png, table

ROWS = table([{"index": number, "prompt": f"question {number}"} for number in range(30)]).encode()


def keep(owner, data=ROWS, name="a.csv"):
    return uploads.keep(SimpleUploadedFile(name, data), owner=owner, kind="samples")


def grow_old(*paths):
    for path in paths:
        os.utime(path, (time.time() - 3 * uploads.DAY,) * 2)


def full(*_args, **_more):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_folders_that_nobody_knows_are_taken_away_and_those_in_use_stay(alice, settings):
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


def test_it_is_tidied_every_ten_minutes_and_not_with_every_sweep(monkeypatch):
    tidied = []
    monkeypatch.setattr(uploads, "tidy", lambda: tidied.append(1))
    tidier = uploads.Tidier()

    for seconds, times in ((0, 1), (1, 1), (uploads.EVERY_SECONDS - 10, 1), (10, 2), (1, 2)):
        time.sleep(seconds)
        tidier.look()
        assert len(tidied) == times


def test_a_full_disk_is_said_and_leaves_nothing_and_nobody_fills_it_with_files_that_wait(
    alice, charlie, load, tmp_path, monkeypatch, settings
):
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
