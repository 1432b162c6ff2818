"""Bulk exports: asked for with a right that is looked at again when they are made and when they are taken."""

import hashlib
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.attachments import pieces_of, streamed, to_be_saved
from accounts.errors import Forbidden, NotFound
from experiments.library.bulk import selecting
from experiments.library.bulk.formats import FORMATS, MANIFEST, BulkFormat
from experiments.models import BulkExport, Run, shared_files
from experiments.models.waiting import WorkState
from experiments.runs.zipping import entry
from experiments.tasks import durable, job_queue, waiting
from experiments.tasks.threads import QUEUE, WorkerThread

if TYPE_CHECKING:
    from accounts.models import User

MOST_WAITING = 5
MANIFEST_VERSION = 1
RUNS_AT_ONCE = 20
MOST_QUEUED = 2  # unanswered ones: whoever answers makes all that waits


def ask(asked: dict[str, object], *, by: "User", format_: BulkFormat, language: str) -> BulkExport:
    """A file that a worker will make. Raises Forbidden and Invalid."""
    if BulkExport.objects.filter(owner=by).waiting().count() >= MOST_WAITING:
        raise Forbidden(_("Your other exports are still being made. Wait for one of them, or cancel it."))
    found = selecting.ids(asked, by=by)
    name = f"arena-lab-{timezone.now():%Y-%m-%dT%H-%M-%S}-{len(found)}-runs.{format_.ending}"
    with transaction.atomic():
        row = BulkExport.objects.create(
            owner=by,
            format=format_.name,
            asked=selecting.normal(asked),
            runs=found,
            run_count=len(found),
            language=language,
            name=name,
        )
        audit.record(audit.Action.EXPORTED, by=by, of=row, deed="asked", format=format_.name, runs=len(found))
        transaction.on_commit(wake)
    return row


def wake() -> None:
    job_queue.enqueue(QUEUE, answer, most=MOST_QUEUED, waiting="a bulk export")


def answer() -> None:
    thread.begin()


def take(row: BulkExport, *, by: "User") -> Path:
    """The file, for its owner, who must still be allowed to see all of it. Raises Forbidden and NotFound."""
    if row.state != WorkState.DONE or not shared_files.is_kept(row.path):
        raise NotFound(_("The file was deleted. Request it again."))
    if not row.may_still_be_read():
        raise Forbidden(
            _("You can no longer see all runs in this file, or some were deleted. Export the ones you can see.")
        )
    in_file = row.run_count - row.left_out
    audit.record(audit.Action.EXPORTED, by=by, of=row, deed="downloaded", format=row.format, runs=in_file)
    return shared_files.here(row.path)


def response(request: HttpRequest, row: BulkExport, *, by: "User") -> HttpResponseBase:
    """The file as an answer, read from the disk piece by piece. Raises Forbidden and NotFound."""
    path = take(row, by=by)
    streaming = to_be_saved(streamed(request, pieces_of(path)), FORMATS[row.format].content_type, row.name)
    streaming["Content-Length"] = str(row.size)
    return streaming


def cancel(row: BulkExport) -> bool:
    """No file is made; one that was made is deleted. False when it had ended otherwise."""
    is_cancelled = waiting.cancel(row)
    shared_files.forget(row.path)
    return is_cancelled


def make_all(stop: threading.Event) -> None:
    while not stop.is_set() and (row := waiting.claim_next(BulkExport)):
        waiting.do(row, _make, stop)


thread = WorkerThread("exports", make_all)


def sweep() -> int:
    """Put back what dead workers held, forget old files. Returns how many wait."""
    oldest = timezone.now() - timedelta(days=settings.EXPORT_DAYS)
    for row in BulkExport.objects.filter(ended__lt=oldest):
        shared_files.forget(row.path)
        row.delete()
    return waiting.sweep(BulkExport)


def _make(row: BulkExport, progress: waiting.Progress) -> dict[str, Any]:
    """It appears under its name when it is whole, and never half."""
    seen = row.still_visible()
    folder = row.path.with_name(f"{row.pk}.{row.attempt}.d")
    unfinished = folder / "whole"

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        runs = _fetched(seen, row.owner, progress)
        format_ = FORMATS[row.format]
        manifest = {
            "manifest_version": MANIFEST_VERSION,
            "made_by": "Arena Lab",
            "made": timezone.now().isoformat(),
            "format": row.format,
            "selection": row.asked,
            "runs": len(seen),
            "left_out": row.run_count - len(seen),
            "parts": format_.write(runs, unfinished, folder / "parts"),
        }
        if format_.content_type == "application/zip":  # where it is the last entry
            with zipfile.ZipFile(unfinished, "a", allowZip64=True) as archive:
                archive.writestr(entry(MANIFEST), json.dumps(manifest, ensure_ascii=False, indent=1).encode())
        with unfinished.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = unfinished.stat().st_size
        progress(1.0, left_out=row.run_count - len(seen))
        durable.place(unfinished, row.path)
        shared_files.keep(row.path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"state": WorkState.DONE, "size": size, "sha256": sha256, "manifest": manifest}


def _fetched(ids: list[str], reader: "User", progress: waiting.Progress) -> Iterator[Run]:
    """With their totals; one that was deleted meanwhile is passed over."""
    for start in range(0, len(ids), RUNS_AT_ONCE):
        some = ids[start : start + RUNS_AT_ONCE]
        rows = Run.objects.with_totals().select_related("experiment__owner").filter(pk__in=some)
        found = {str(run.pk): run for run in rows}
        for number, pk in enumerate(some, start):
            progress(number / len(ids))
            if pk in found:
                found[pk].reader = reader
                yield found[pk]
