"""The worker's side: claims an upload, has it read, writes it, or says why not. Taken up again when a worker died."""

import logging
import threading
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import translation

from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.library.datasets import process, uploads
from experiments.library.datasets.process import Refused
from experiments.library.datasets.reasons import sentence
from experiments.library.datasets.taking import READ_SHARE, empty, take_outputs, take_samples
from experiments.models import Dataset, Upload
from experiments.tasks import clock

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
STEP = 0.02  # progress is written when it has grown by so much


class ClaimLost(Exception):
    """Somebody else reads the upload now, or nobody shall: this worker leaves it alone."""


class Interrupted(Exception):
    """The worker is asked to end; the upload waits for the next one."""


def read_all(stop: threading.Event) -> None:
    """Read every upload that waits, until none is left or the worker is asked to end."""
    while not stop.is_set() and (upload := _claim()):
        read(upload, stop)


def read(upload: Upload, stop: threading.Event) -> None:
    """Read an upload that was claimed. Either all of it is there afterwards, or nothing and the reason."""
    try:
        with translation.override(upload.owner.language or settings.LANGUAGE_CODE):
            _read(upload, _Lease(upload, stop))
    except (ClaimLost, Interrupted) as reason:
        logger.info("upload=%s left unread: %s", upload.pk, type(reason).__name__)
        _held(upload).update(state=Upload.State.WAITING, progress=0, attempt=F("attempt") - 1)
    except Refused as refused:
        refuse(upload, str(refused))
    except DatabaseError:
        raise
    except Exception as error:  # whatever a file makes us stumble over ends this upload, not the worker
        logger.exception("upload=%s could not be read", upload.pk)
        refuse(upload, sentence("reader_died", {"said": type(error).__name__}))


def refuse(upload: Upload, reason: str) -> None:
    """Nothing of it is kept but the reason."""
    if not _held(upload).update(beat=Now()):
        return
    dataset = upload.dataset
    if dataset and upload.kind == Upload.Kind.SAMPLES:
        empty(dataset, lambda: _held(upload).update(beat=Now()))
    with transaction.atomic():
        if dataset and upload.kind == Upload.Kind.SAMPLES:
            told = {"state": Dataset.State.REFUSED, "refused_reason": reason, "progress": 0}
            Dataset.objects.filter(pk=dataset.pk).update(**told)
            outbox.of_dataset(dataset, Kind.DATASET_REFUSED, str(upload.pk))
        _held(upload).update(state=Upload.State.REFUSED, refused_reason=reason, ended=Now())
    upload.forget_file()


def sweep() -> int:
    """Put back what dead workers held, give up what killed them, forget what nobody needs. Returns how many wait."""
    uploaded = Upload.objects.filter(state=Upload.State.READING)
    silent = clock.ago(timedelta(seconds=settings.DATASET_LEASE_SECONDS))
    abandoned = uploaded.filter(beat__lt=silent)
    for upload in abandoned.filter(attempt__gte=MOST_ATTEMPTS).select_related("owner", "dataset"):
        with translation.override(upload.owner.language or settings.LANGUAGE_CODE):
            refuse(upload, sentence("worker_died", {"times": MOST_ATTEMPTS}))
    abandoned.filter(attempt__lt=MOST_ATTEMPTS).update(state=Upload.State.WAITING, progress=0)
    _give_up_interrupted(silent)
    uploads.forget_old()
    return Upload.objects.filter(state=Upload.State.WAITING).count()


def _give_up_interrupted(silent: Any) -> None:
    """Datasets that a command was reading when it was ended: there is no upload to read again."""
    without = Q(uploads__isnull=True) & (Q(beat__lt=silent) | Q(beat__isnull=True))
    for dataset in Dataset.objects.filter(without, state=Dataset.State.READING).select_related("owner"):
        empty(dataset, lambda: None)
        with translation.override(dataset.owner.language or settings.LANGUAGE_CODE):
            told = {"state": Dataset.State.REFUSED, "refused_reason": sentence("interrupted", {}), "progress": 0}
        Dataset.objects.filter(pk=dataset.pk, state=Dataset.State.READING).update(**told)


def _claim() -> Upload | None:
    """The oldest upload that waits, if no other worker was faster."""
    for pk in Upload.objects.filter(state=Upload.State.WAITING).order_by("created").values_list("pk", flat=True)[:20]:
        claimed = {"state": Upload.State.READING, "started": Now(), "beat": Now(), "attempt": F("attempt") + 1}
        if Upload.objects.filter(pk=pk, state=Upload.State.WAITING).update(**claimed):
            return Upload.objects.select_related("owner", "dataset").get(pk=pk)
    return None


def _held(upload: Upload) -> QuerySet[Upload]:
    """The row, as long as the claim is ours."""
    return Upload.objects.filter(pk=upload.pk, state=Upload.State.READING, attempt=upload.attempt)


def _read(upload: Upload, lease: "_Lease") -> None:
    if not upload.path.exists():
        raise Refused("upload_gone")
    dataset = upload.dataset
    if dataset is None:
        raise Refused("upload_gone")
    orders = dict(upload.asked)
    version = orders.pop("version", "")
    with process.spool_in(upload.folder) as spool:
        if upload.kind == Upload.Kind.SAMPLES:
            Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.READING, progress=0)
            empty(dataset, lambda: lease.reading(0))
        found = process.read(upload.path, spool, what=upload.kind, heard=lease.reading, **orders)
        if upload.kind == Upload.Kind.SAMPLES:
            take_samples(dataset, found, lease, version)
            _finish(upload, {"samples": dataset.samples.count()}, dataset)
        else:
            _finish(upload, take_outputs(dataset, found, lease, version)._asdict())
    upload.forget_file()


def _finish(upload: Upload, found: dict[str, Any], dataset: Dataset | None = None) -> None:
    """Raises ClaimLost."""
    done = {"state": Upload.State.DONE, "progress": 1, "found": found, "ended": Now()}
    with transaction.atomic():
        if not _held(upload).update(**done):
            raise ClaimLost
        if dataset:
            told = {"columns": dataset.columns, "warnings": dataset.warnings, "refused_reason": ""}
            Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.READY, progress=1, **told)
            outbox.of_dataset(dataset, Kind.DATASET_READY, str(upload.pk))


class _Lease:
    """Says that the worker is alive and how far it is. Raises ClaimLost and Interrupted, to end the reading.

    Whatever takes long tells it again and again: a worker that is silent counts as dead.
    """

    def __init__(self, upload: Upload, stop: threading.Event) -> None:
        self._upload, self._stop = upload, stop
        self._written, self._beat = 0.0, time.monotonic()

    def __call__(self, share: float) -> None:
        """Within the transaction that writes: whoever has lost the claim writes nothing."""
        self._look_up()
        self._write(share)

    def reading(self, share: float) -> None:
        """While the process reads: now and then."""
        self._look_up()
        is_due = time.monotonic() - self._beat > settings.DATASET_LEASE_SECONDS / 4
        if is_due or share * READ_SHARE - self._written >= STEP:
            self._write(share * READ_SHARE)

    def _look_up(self) -> None:
        if self._stop.is_set():
            raise Interrupted

    def _write(self, share: float) -> None:
        self._written, self._beat = share, time.monotonic()
        if not _held(self._upload).update(progress=share, beat=Now()):
            raise ClaimLost
        dataset = self._upload.dataset
        if dataset and self._upload.kind == Upload.Kind.SAMPLES:
            Dataset.objects.filter(pk=dataset.pk).update(progress=share)
