"""The worker's side: an upload is claimed, read by the limited process, and written whole, or it is said why not."""

import threading
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import translation

from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.library.datasets import process, uploads
from experiments.library.datasets.process import Refused
from experiments.library.datasets.reasons import sentence
from experiments.library.datasets.writing import READ_SHARE, empty, take_outputs, take_samples
from experiments.models import Dataset, Upload, shared_files
from experiments.tasks import clock, job_queue, waiting
from experiments.tasks.threads import QUEUE, WorkerThread

MOST_QUEUED = 4  # unanswered ones: whoever answers reads all that waits
tidier = uploads.Tidier()


def wake() -> None:
    """Enqueue a job once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(wake_now)


def wake_now() -> None:
    job_queue.enqueue(QUEUE, read_uploads, most=MOST_QUEUED, waiting="an upload")


def read_uploads() -> None:
    thread.begin()


def read_all(stop: threading.Event) -> None:
    """Read every upload that waits, until none is left or the worker is asked to end."""
    while not stop.is_set() and (upload := waiting.claim_next(Upload)):
        read(upload, stop)


thread = WorkerThread("datasets", lambda stop: read_all(stop))


def read(upload: Upload, stop: threading.Event) -> None:
    """Read an upload that was claimed. Either all of it is there afterwards, or nothing and the reason."""
    waiting.do(upload, _read, stop, _end, undo=_undo, after=Upload.forget_file)


def refuse(upload: Upload, reason: str) -> None:
    """Nothing of it is kept but the reason."""
    waiting.fail(upload, reason, _end, undo=_undo, after=Upload.forget_file)


def sweep() -> None:
    """Find uploads whose worker has died, or whose job was lost; forget what is not needed any more."""
    if sweep_uploads():
        wake_now()
    tidier.look()


def sweep_uploads() -> int:
    """Returns how many wait."""
    count = waiting.sweep(Upload, _end, undo=_undo, after=Upload.forget_file)
    # Datasets that a command was reading when it was ended: there is no upload to read again.
    silent = Q(beat__lt=clock.ago(timedelta(seconds=Upload.lease_seconds()))) | Q(beat__isnull=True)
    interrupted = Dataset.objects.filter(silent, uploads__isnull=True, state=Dataset.State.READING)
    for dataset in interrupted.select_related("owner"):
        empty(dataset, lambda: None)
        with translation.override(dataset.owner.language or settings.LANGUAGE_CODE):
            told = {"state": Dataset.State.REFUSED, "refused_reason": sentence("interrupted", {}), "progress": 0}
        Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.READING).update(**told)
    uploads.forget_old()
    return count


def _read(upload: Upload, progress: waiting.Progress) -> dict[str, Any]:
    dataset, orders = upload.dataset, dict(upload.asked)
    if dataset is None or not shared_files.is_kept(upload.path):
        raise Refused("upload_gone")
    version = orders.pop("version", "")
    is_new = upload.kind == Upload.Kind.SAMPLES
    shown = Dataset.objects.filter(pk=dataset.pk) if is_new else Dataset.objects.none()

    def reading(share: float) -> None:
        before = progress.written
        progress(share * READ_SHARE)
        if progress.written != before:
            shown.update(progress=progress.written)

    def writing(share: float) -> None:
        progress.write(share)
        shown.update(progress=share)

    with process.spool_in(upload.folder) as spool:
        if is_new:
            shown.update(state=Dataset.State.READING, progress=0)
            empty(dataset, lambda: progress(0))
        found = process.read(shared_files.here(upload.path), spool, what=upload.kind, heard=reading, **orders)
        if is_new:
            take_samples(dataset, found, writing, version)
            return {"state": Upload.State.DONE, "found": {"samples": dataset.samples.count()}}
        added = take_outputs(dataset, found, writing, version)
        return {"state": Upload.State.DONE, "found": added._asdict()}


def _undo(upload: Upload) -> None:
    if upload.dataset and upload.kind == Upload.Kind.SAMPLES:
        empty(upload.dataset, lambda: None)


def _end(upload: Upload) -> None:
    dataset = upload.dataset
    if dataset is None or upload.kind != Upload.Kind.SAMPLES:
        return
    if upload.state == Upload.State.REFUSED:
        told = {"state": Dataset.State.REFUSED, "refused_reason": upload.refused_reason, "progress": 0}
    else:
        told = {"state": Dataset.State.READY, "refused_reason": "", "progress": 1}
        told |= {"columns": dataset.columns, "warnings": dataset.warnings}
    Dataset.objects.filter(pk=dataset.pk).update(**told)
    kind = Kind.DATASET_REFUSED if upload.state == Upload.State.REFUSED else Kind.DATASET_READY
    outbox.of_dataset(dataset, kind, str(upload.pk))
