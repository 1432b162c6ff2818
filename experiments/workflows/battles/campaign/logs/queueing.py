"""Logs that were sent are read by a worker, small ones at once. A worker that dies is followed by another: what is
stored is known by then, so that nothing is stored twice.
"""

import logging
import threading
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.errors import Conflict, Forbidden, TooLarge
from experiments.engine.text import storable
from experiments.library.datasets import uploads
from experiments.library.imports.values import Unreadable
from experiments.models import Dataset, LogImport, shared_files
from experiments.tasks import clock, durable, job_queue
from experiments.tasks.threads import WorkerThread, stop_requested
from experiments.tasks.waiting import MOST_ATTEMPTS, ClaimLost, Interrupted
from experiments.workflows.battles.campaign.logs.columns import AS_PUBLISHED, Columns
from experiments.workflows.battles.campaign.logs.importing import (
    NothingStored,
    discard,
    import_battles,
    is_in_making,
    may_import,
)
from experiments.workflows.battles.campaign.logs.records import Report

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

    from accounts.models import User

logger = logging.getLogger(__name__)

QUEUE = "datasets"
MOST_QUEUED = 2  # unanswered ones: the worker reads all logs that wait
AT_ONCE_BYTES = 256 << 10  # a smaller file is read while its sender waits
LEASE = timedelta(minutes=2)  # a worker that was silent for so long has died: a batch takes a second
MOST_WAITING = 5
State = LogImport.State


def keep(
    sent: "UploadedFile[Any]",
    *,
    dataset: Dataset,
    by: "User",
    judge: str = "",
    subset: str = "",
    columns: Columns = AS_PUBLISHED,
    keep_partial: bool = False,
    is_dry_run: bool = False,
) -> LogImport:
    """Keep the file and have it read, a small one at once. is_dry_run: only reported, until `store` is called.

    Raises Forbidden, TooLarge and Invalid.
    """
    if not may_import(dataset, by):
        raise Forbidden(_("Only the dataset's owner or an administrator can import battles into it."))
    if not dataset.is_ready and (not is_in_making(dataset) or dataset.log_imports.exists()):
        raise Forbidden(_("The dataset is not ready. Import battles when it is."))
    if (sent.size or 0) > settings.UPLOAD_BYTES:
        raise TooLarge(
            _("The file is larger than %(most)s MiB. Send it in parts.") % {"most": settings.UPLOAD_BYTES >> 20}
        )
    if LogImport.objects.filter(owner=by, state__in=[State.WAITING, State.READING]).count() >= MOST_WAITING:
        raise Forbidden(_("Your other files are still being read. Wait for one of them."))
    named = storable(PurePath(sent.name or "log.jsonl").name)[-300:]
    row = LogImport(dataset=dataset, owner=by, name=named, size=sent.size or 0, keep_partial=keep_partial)
    row.judge, row.subset, row.columns, row.is_dry_run = judge[:200], subset[:100], dict(columns.named), is_dry_run
    with uploads.all_or_nothing(row):
        row.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with row.path.open("wb") as file:
            for chunk in sent.chunks():
                file.write(chunk)
        durable.settle(row.path)
        shared_files.keep(row.path)
        row.save(force_insert=True)
    _begin(row)
    return row


def store(row: LogImport) -> None:
    """Store what a dry run has reported. Raises Conflict for an import that was not checked, or is stored already."""
    checked = LogImport.objects.filter(pk=row.pk, state=State.CHECKED)
    if not checked.update(state=State.WAITING, is_dry_run=False, report={}, ended=None):
        raise Conflict(_("This file is not waiting to be stored."))
    _begin(row)
    row.refresh_from_db()


def _begin(row: LogImport) -> None:
    if row.size <= AT_ONCE_BYTES and _claim(row):
        read(row)
    else:
        transaction.on_commit(wake)


def wake() -> None:
    job_queue.enqueue(QUEUE, answer, most=MOST_QUEUED, waiting="a log")


def answer() -> None:
    """Begin to read in a thread, as datasets are: ratings and reports do not wait for it."""
    reader.begin()


def read_all(stop: threading.Event = stop_requested) -> None:
    """Read every file that waits, until none is left or the worker is asked to end."""
    for row in LogImport.objects.filter(state=State.WAITING).order_by("created"):
        if not stop.is_set() and _claim(row):
            read(row)


reader = WorkerThread("logs", read_all)


def read(row: LogImport) -> None:
    """Read a file that was claimed, and keep the report of it."""
    try:
        with translation.override(row.owner.language or settings.LANGUAGE_CODE):
            _end(row, State.CHECKED if row.is_dry_run else State.DONE, _taken(row))
    except ClaimLost:
        return
    except Interrupted:
        _held(row).update(state=State.WAITING, attempt=F("attempt") - 1)
        return
    except (NothingStored, Forbidden, Unreadable, TooLarge) as reason:
        _end(row, State.REFUSED, getattr(reason, "report", None), str(reason))
    except DatabaseError:
        raise
    except Exception as error:  # whatever a stranger's file does ends its import, not the worker
        logger.exception("import=%s could not be read", row.pk)
        _end(row, State.REFUSED, None, f"{type(error).__name__}: {error}"[:1000])
    row.refresh_from_db()
    if row.state != State.CHECKED:
        row.forget_file()


def sweep() -> None:
    """Put back what dead workers held, give up what killed them, forget files that were checked long ago and never
    stored, and enqueue a job for what waits.
    """
    oldest = clock.ago(timedelta(days=settings.UPLOAD_DAYS))
    for row in LogImport.objects.filter(state=State.CHECKED, ended__lt=oldest).select_related("dataset")[:100]:
        row.forget_file()
        row.delete()
        discard(row.dataset)
    being_read = LogImport.objects.filter(state=State.READING)
    silent = being_read.filter(beat__lt=clock.ago(LEASE))
    for row in silent.filter(attempt__gte=MOST_ATTEMPTS):
        said = _("The worker was stopped %(times)s times while reading this file.") % {"times": MOST_ATTEMPTS}
        _end(row, State.REFUSED, None, said)
        row.forget_file()
    silent.filter(attempt__lt=MOST_ATTEMPTS).update(state=State.WAITING)
    if LogImport.objects.filter(state=State.WAITING).exists():
        wake()


def _taken(row: LogImport) -> Report:
    def heard(report: Report) -> None:
        if stop_requested.is_set():
            raise Interrupted
        if not _held(row).update(report=report.as_json(), beat=Now()):
            raise ClaimLost

    report = import_battles(
        shared_files.here(row.path),
        dataset=row.dataset,
        by=row.owner,
        judge=row.judge,
        subset=row.subset or None,
        columns=Columns.of(row.columns),
        name=row.name,
        keep_partial=row.keep_partial,
        is_dry_run=row.is_dry_run,
        heard=heard,
    )
    if row.attempt > 1:
        report.warn(_("A worker was stopped while reading this. What it had stored is among the battles known before."))
    return report


def _claim(row: LogImport) -> bool:
    claimed = {"state": State.READING, "beat": Now(), "attempt": F("attempt") + 1}
    if not LogImport.objects.filter(pk=row.pk, state=State.WAITING).update(**claimed):
        return False
    row.refresh_from_db()
    return True


def _held(row: LogImport) -> QuerySet[LogImport]:
    """The row, as long as the claim is ours."""
    return LogImport.objects.filter(pk=row.pk, state=State.READING, attempt=row.attempt)


def _end(row: LogImport, state: State, report: Report | None, reason: str = "") -> None:
    """A dataset that was made for a refused file says why, and holds nothing of it."""
    kept = {"report": report.as_json()} if report else {}
    if state == State.REFUSED and _held(row).exists():
        discard(row.dataset, reason)
    _held(row).update(state=state, refused_reason=reason, ended=Now(), **kept)
