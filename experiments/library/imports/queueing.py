"""Files with runs: looked through first, stored when their sender says so; small ones at once, others by a worker."""

import hashlib
import threading
from datetime import timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Forbidden, Refusal, TooLarge
from experiments.engine.text import storable
from experiments.library.imports import reading, storing
from experiments.library.imports.formats import DatasetFormat, dataset_formats
from experiments.library.imports.storing import Report
from experiments.library.imports.values import Unreadable
from experiments.models import Dataset, RunImport, shared_files
from experiments.models.waiting import WorkState
from experiments.runs.reports.json_values import InvalidDocument
from experiments.tasks import durable, job_queue, waiting
from experiments.tasks.threads import QUEUE, WorkerThread

if TYPE_CHECKING:
    from django.core.files import File

    from accounts.models import User

AT_ONCE_BYTES = 256 << 10  # a smaller file is read while its sender waits
MOST_WAITING = 5
HEARD_AFTER = 10  # runs
MOST_QUEUED = 2  # unanswered ones: the worker reads all that waits


def keep(sent: "File[Any]", *, by: "User", language: str, source: str = "", is_wanted: bool = False) -> RunImport:
    """Keep the file and have it read. is_wanted: without waiting for a second word. Raises Forbidden and TooLarge."""
    if not by.may_experiment:
        raise Forbidden(_("Your role does not allow imports. Ask an administrator for the role of researcher."))
    if (sent.size or 0) > settings.UPLOAD_BYTES:
        message = _("The file is larger than %(most)s MiB. Send it in parts.")
        raise TooLarge(message % {"most": settings.UPLOAD_BYTES >> 20})
    if RunImport.objects.filter(owner=by).waiting().count() >= MOST_WAITING:
        raise Forbidden(_("Your other files are still waiting. Store or cancel one of them."))
    name = storable(PurePath(sent.name or "runs.json").name)[-300:]
    row = RunImport(owner=by, language=language, name=name, size=sent.size or 0, source=source, is_wanted=is_wanted)
    try:
        row.folder.mkdir(mode=0o700, parents=True)
        read = hashlib.sha256()
        with row.path.open("wb") as file:
            for chunk in sent.chunks():
                file.write(chunk)
                read.update(chunk)
        durable.settle(row.path)
        shared_files.keep(row.path)
        row.sha256 = read.hexdigest()
        row.save(force_insert=True)
    except BaseException:
        row.forget_file()
        raise
    _begin(row)
    return row


def confirm(row: RunImport) -> RunImport:
    """What was looked through is to be stored. Saying so twice changes nothing."""
    waits = RunImport.objects.filter(pk=row.pk, state=WorkState.READY)
    if waits.update(state=WorkState.QUEUED, is_wanted=True, progress=0, attempt=0, ended=None):
        _begin(row)
    row.refresh_from_db()
    return row


def cancel(row: RunImport) -> bool:
    """Nothing more is stored; what was stored stays. False when it was over."""
    is_cancelled = waiting.cancel(row)
    if is_cancelled:
        row.forget_file()
    return is_cancelled


def read_all(stop: threading.Event) -> None:
    while not stop.is_set() and (row := waiting.claim_next(RunImport)):
        _read(row, stop)


thread = WorkerThread("imports", read_all)


def sweep() -> None:
    """Put back what dead workers held, and enqueue a job for what waits. Forget files that were left lying."""
    oldest = timezone.now() - timedelta(days=settings.UPLOAD_DAYS)
    for row in RunImport.objects.filter(state=WorkState.READY, created__lt=oldest):
        cancel(row)
    ended = RunImport.objects.filter(state__in=(WorkState.FAILED, WorkState.CANCELLED))
    for row in ended.filter(dataset__state=Dataset.State.WAITING).select_related("dataset"):
        for format_ in dataset_formats():
            if format_.source == row.source:
                format_.discard(row)
    if waiting.sweep(RunImport, after=_forget):
        wake()


def wake() -> None:
    job_queue.enqueue(QUEUE, answer, most=MOST_QUEUED, waiting="an import")


def answer() -> None:
    thread.begin()


def _begin(row: RunImport) -> None:
    if row.size <= AT_ONCE_BYTES and waiting.claim(row):
        _read(row, threading.Event())
    else:
        transaction.on_commit(wake)


def _read(row: RunImport, stop: threading.Event) -> None:
    waiting.do(row, _taken, stop, after=_forget)
    row.refresh_from_db()


def _forget(row: RunImport) -> None:
    if row.is_over:
        row.forget_file()


def _taken(row: RunImport, progress: waiting.Progress) -> dict[str, Any]:
    report = Report()
    expected = row.report["found"] + row.report["refused"] if row.is_wanted and row.report else 0
    try:
        for found in reading.runs(shared_files.here(row.path), row.name, row.source):
            _take(row, found, report)
            count = report.found + report.refused
            if count % HEARD_AFTER == 0:  # of what was found when it was looked through; before, it is not known
                progress(min(0.99, count / expected) if expected else 0.0, report=report.as_json())
    except reading.HoldsDataset as held:
        return _dataset(row, held.format, report, progress)
    except (Unreadable, Forbidden, TooLarge) as reason:
        return {"state": WorkState.FAILED, "error": str(reason)[:2000], "report": report.as_json()}
    ended = {"report": report.as_json(), "source": row.source or report.source}
    if report.found:
        return ended | {"state": WorkState.DONE if row.is_wanted else WorkState.READY}
    said = _("There is no run in this file.")
    if report.refusals:
        said = _("This file has no valid run. %(place)s: %(reason)s") % report.refusals[0]
    return ended | {"state": WorkState.FAILED, "error": said}


def _take(row: RunImport, found: reading.Found, report: Report) -> None:
    if found.taken is None or found.source is None:
        report.refuse(found.place, found.refused)
        return
    try:
        if row.is_wanted:
            taken, file = found.taken, storing.File(row.name, row.sha256, row)
            run, is_new = storing.store(taken, source=found.source, file=file, by=row.owner)
            outcome = storing.OUTCOME_STORED if is_new else storing.OUTCOME_KNOWN
            report.add(found.source, taken, run, outcome)
        else:
            taken = storing.proven(found.taken)
            before = storing.known(taken, by=row.owner)
            report.add(found.source, taken, before, storing.OUTCOME_KNOWN if before else storing.OUTCOME_NEW)
    except InvalidDocument as error:
        report.refuse(found.place, str(error))


def _dataset(row: RunImport, format_: DatasetFormat, report: Report, progress: waiting.Progress) -> dict[str, Any]:
    """What the file holds becomes a dataset; none is left where it cannot be stored."""
    told: dict[str, Any] = {"report": report.as_json()}
    if report.found:
        return told | {"state": WorkState.FAILED, "error": format_.beside_runs()}
    told |= {"source": format_.source}
    if not row.is_wanted:
        return told | {"state": WorkState.READY}
    try:
        return told | {"state": WorkState.DONE, **format_.store(row, progress)}
    except (Refusal, ValueError) as error:
        format_.discard(row)
        return told | {"state": WorkState.FAILED, "error": str(error)[:2000]}
