"""Files that a worker makes: asked for once, claimed by one worker, taken up again when that worker has died.

The same worker does the work of datasets and of whoever else listens to its sweep.
"""

import logging
import threading
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, close_old_connections, transaction
from django.db.models import Q
from django.db.models.functions import Now

from experiments.engine.jobs import BaseWorker, run_looks
from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.library.datasets import reading as datasets
from experiments.models import Export, Run, shared_files
from experiments.models.signals import swept
from experiments.runs.reports.formats import Format, format_of
from experiments.tasks import clock, durable, job_queue, threads, waiting

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger(__name__)

QUEUE = "reports"
MOST_QUEUED = 4  # each makes all files that wait, not only the one that it was enqueued for
LEAST_AGE = timedelta(minutes=5)  # of a file of a run that goes on, before its readers get a newer one
UNFINISHED = ".part"
Same = dict[str, object]
stop_requested = threading.Event()


def is_long(run: Run) -> bool:
    """Whether its files take longer to make than somebody waits for a page."""
    return run.messages.count() > settings.EXPORT_DIRECT_MESSAGES


def file_for(run: Run, *, by: "User", format_: Format, language: str) -> Export:
    """For its owner, the run as it is now; for others, as it was a moment ago, unless that has failed."""
    if run.experiment.owner_id != by.pk:
        recent = recent_file(run, by=by, format_=format_, language=language)
        if recent.state != Export.State.FAILED:
            return recent
    return request_file(run, by=by, format_=format_, language=language)


def recent_file(run: Run, *, by: "User", format_: Format, language: str) -> Export:
    """The file that was made, or has failed, less than LEAST_AGE ago, or is being made; else as `request_file`. So
    those who only look fill no disk while the run goes on.
    """
    same: Same = {"run": run, "owner": by, "format": format_.name, "language": language}
    same |= {"last_seq": run.last_seq} if run.is_over else {}
    is_recent = Q(ended__gt=clock.ago(LEAST_AGE)) | Q(state__in=(Export.State.QUEUED, Export.State.RUNNING))
    found = Export.objects.filter(is_recent, **same).order_by("-created", "-id").first()
    return _present(found) if found else request_file(run, by=by, format_=format_, language=language)


def request_file(run: Run, *, by: "User", format_: Format, language: str) -> Export:
    """The file of the run as it is now: the one that is there or being made, else a new one in the queue."""
    same: Same = {"run": run, "owner": by, "format": format_.name, "language": language, "last_seq": run.last_seq}
    try:
        with transaction.atomic():
            return Export.objects.create(**same, name=format_.file_name(run))
    except IntegrityError:
        pass
    return _present(Export.objects.exclude(state=Export.State.FAILED).get(**same))


def _present(export: Export) -> Export:
    """One whose file was removed is made again."""
    if export.state == Export.State.DONE and not shared_files.is_kept(export.path):
        back = {"state": Export.State.QUEUED, "progress": 0, "ended": None, "attempt": 0}
        Export.objects.filter(pk=export.pk, state=Export.State.DONE).update(**back)
        export.refresh_from_db()
    return export


# --- the work ---


def make_all(stop: threading.Event) -> None:
    """Make every file that waits, until none is left or the worker is asked to end. A file appears under its name when
    it is whole, and never half.
    """
    while not stop.is_set() and (export := waiting.claim_next(Export)):
        unfinished = export.path.with_name(f"{export.pk}.{export.attempt}{UNFINISHED}")
        try:
            waiting.do(export, partial(_made, unfinished), stop, _announce)
        finally:
            unfinished.unlink(missing_ok=True)


def _made(path: Path, export: Export, progress: waiting.Progress) -> dict[str, object]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    run = Run.objects.with_totals().select_related("experiment__owner").get(pk=export.run_id)
    run.reader = export.owner
    with path.open("wb") as file:
        for chunk in format_of(export.format).chunks(run, export.language, progress):
            file.write(chunk)
    size = path.stat().st_size
    if not waiting.held(export).update(beat=Now()):
        raise waiting.ClaimLost
    durable.place(path, export.path)
    shared_files.keep(export.path)
    return {"state": Export.State.DONE, "size": size}


def _announce(export: Export) -> None:
    outbox.of_export(export, Kind.EXPORT_FAILED if export.state == Export.State.FAILED else Kind.EXPORT_READY)


def sweep() -> int:
    """Take up what dead workers held; forget rows and files of long ago, and files of rows that are gone. Returns how
    many files wait.
    """
    count = waiting.sweep(Export, _announce)
    for export in Export.objects.filter(ended__lt=clock.ago(timedelta(days=settings.EXPORT_DAYS))):
        shared_files.forget(export.path)
        export.delete()
    before = time.time() - settings.EXPORT_DAYS * 86_400
    for path in settings.EXPORTS_DIR.iterdir() if settings.EXPORTS_DIR.is_dir() else ():
        if path.is_file() and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
    return count


# --- the queue and its worker ---


def wake() -> None:
    """Enqueue a job once the current transaction is committed; one that is lost costs seconds."""
    transaction.on_commit(_enqueue)


def _enqueue() -> None:
    job_queue.enqueue(QUEUE, make_files, most=MOST_QUEUED, waiting="a file")


def make_files() -> None:
    close_old_connections()
    make_all(stop_requested)


def sweep_forever(seconds: float) -> None:
    """Find work whose worker has died, or whose job was lost."""
    while True:
        run_looks(sweep_files, datasets.sweep, sweep_receivers)
        time.sleep(seconds)


def sweep_files() -> None:
    if sweep():
        _enqueue()


def sweep_receivers() -> None:
    """Whoever else wants to look, above: what goes wrong there ends nothing here."""
    for receiver, answer in swept.send_robust(None):
        if isinstance(answer, Exception):
            logger.warning("a receiver of the sweep failed: %s", getattr(receiver, "__name__", ""), exc_info=answer)
            close_old_connections()


class ReportsWorker(BaseWorker):
    """One piece of work after the other, in this process; datasets are read in a thread beside it."""

    def work(self, *args: Any, **kwargs: Any) -> bool:
        threading.Thread(target=sweep_forever, args=(settings.SWEEP_SECONDS,), name="sweep", daemon=True).start()
        return bool(super().work(*args, **kwargs))

    def request_stop(self, signum: int, frame: Any) -> None:
        stop_requested.set()
        threads.stop_requested.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # rq has it untyped
