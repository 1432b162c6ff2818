"""The worker's side: an upload is read once, whole, and in spite of whoever dies over it."""

import signal
import subprocess
import sys
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from django.utils.translation import get_language

from experiments.library.datasets import making, process, reading, writing
from experiments.models import Dataset, Sample, Upload
from experiments.tasks import threads, waiting
from tests.experiments.datasets.files import table
from tests.fixtures import environment, wait_until
from tests.making import maker

ROWS = table([{"index": number, "prompt": f"question {number}", "output_a": "x"} for number in range(30)])


@maker
def send(alice, /, name="a.csv", text=ROWS, **fields):
    """Sends a text as a dataset of Alice's."""
    file = SimpleUploadedFile(name, text.encode())
    return making.create(owner=alice, upload=file, **{"name": "Questions", **fields})


def again(dataset):
    return Dataset.objects.get(pk=dataset.pk)


def test_what_cannot_be_read_is_refused_in_the_owners_language_and_stores_nothing(send, work, alice, monkeypatch):
    alice.language = "zh-hans"
    alice.save()
    monkeypatch.setattr(process, "sentence", lambda code, facts: f"{code} in {get_language()}")
    dataset = send(text="x\n1\n")

    work()

    assert (again(dataset).state, again(dataset).refused_reason) == ("refused", "no_instruction in zh-hans")
    assert not Sample.objects.exists()
    assert not dataset.uploads.get().folder.exists()


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

    unsaid = reading.uploads.keep(SimpleUploadedFile("a.csv", b"prompt\nq\n"), owner=alice, kind="samples")
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


@pytest.mark.system
def test_the_readers_own_process_is_killed_when_its_parent_ends(settings):
    """Whoever kills the worker does not leave a process behind that goes on with strangers' bytes."""
    words = (
        "import ctypes, sys; sys.path.insert(0, sys.argv[1]); found = ctypes.c_int();"
        "from experiments.library.datasets.reader.limits import die_with_parent; die_with_parent();"
        "ctypes.CDLL(None).prctl(2, ctypes.byref(found)); print(found.value)"  # PR_GET_PDEATHSIG
    )
    command = [sys.executable, "-c", words, str(settings.BASE_DIR)]

    assert int(subprocess.run(command, check=True, capture_output=True).stdout) == signal.SIGKILL


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
