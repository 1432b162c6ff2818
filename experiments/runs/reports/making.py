"""Files that a worker makes: asked for once, claimed by one worker, taken up again when that worker has died."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.kinds import Kind
from experiments.models import Export, Run
from experiments.runs.reports.formats import Format, format_of
from experiments.tasks import clock
from experiments.tasks.room import said_of
from experiments.tasks.waiting import ClaimLost, Interrupted

if TYPE_CHECKING:
    from accounts.models import User

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
STEP = 0.02  # progress is written when it has grown by so much
LEAST_AGE = timedelta(minutes=5)  # of a file of a run that goes on, before its readers get a newer one
UNFINISHED = ".part"
Same = dict[str, object]


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
            return Export.objects.create(**same, name=format_.named(run))
    except IntegrityError:
        pass
    return _present(Export.objects.exclude(state=Export.State.FAILED).get(**same))


def _present(export: Export) -> Export:
    """One whose file was removed is made again."""
    if export.state == Export.State.DONE and not export.path.exists():
        back = {"state": Export.State.QUEUED, "progress": 0, "ended": None, "attempt": 0}
        Export.objects.filter(pk=export.pk, state=Export.State.DONE).update(**back)
        export.refresh_from_db()
    return export


def make_all(stop: threading.Event) -> None:
    """Make every file that waits, until none is left or the worker is asked to end."""
    while not stop.is_set() and (export := _claim()):
        make(export, stop)


def make(export: Export, stop: threading.Event) -> None:
    """Make a file that was claimed. It appears under its name when it is whole, and never half."""
    unfinished = export.path.with_name(f"{export.pk}.{export.attempt}{UNFINISHED}")
    try:
        with _beating(export):
            _write(export, unfinished, _Progress(export, stop))
        _finish(export, unfinished)
    except (ClaimLost, Interrupted) as reason:
        logger.info("file=%s run=%s left unfinished: %s", export.pk, export.run_id, type(reason).__name__)
        _held(export).update(state=Export.State.QUEUED, progress=0, attempt=F("attempt") - 1)
    except DatabaseError:
        raise
    except Exception as error:  # whatever a renderer stumbles over ends this file, not the worker
        logger.exception("file=%s run=%s could not be made", export.pk, export.run_id)
        with translation.override(export.language):
            said = said_of(error)
        _fail(export, said[:1000])
    finally:
        unfinished.unlink(missing_ok=True)


def sweep() -> int:
    """Put back what dead workers held, give up what killed them, forget what is old. Returns how many files wait."""
    running = Export.objects.filter(state=Export.State.RUNNING)
    abandoned = running.filter(beat__lt=clock.ago(timedelta(seconds=settings.EXPORT_LEASE_SECONDS)))
    for export in abandoned.filter(attempt__gte=MOST_ATTEMPTS):
        with translation.override(export.language):
            said = _("The worker was ended %(times)s times while it made this file.") % {"times": MOST_ATTEMPTS}
        _fail(export, said)
    abandoned.filter(attempt__lt=MOST_ATTEMPTS).update(state=Export.State.QUEUED, progress=0)
    _forget_old()
    return Export.objects.filter(state=Export.State.QUEUED).count()


def _claim() -> Export | None:
    """The oldest file that waits, if no other worker was faster."""
    for export in Export.objects.filter(state=Export.State.QUEUED).order_by("created")[:20]:
        claimed = {"state": Export.State.RUNNING, "started": Now(), "beat": Now(), "attempt": F("attempt") + 1}
        if Export.objects.filter(pk=export.pk, state=Export.State.QUEUED).update(**claimed):
            export.refresh_from_db()
            return export
    return None


def _held(export: Export) -> QuerySet[Export]:
    """The row, as long as the claim is ours."""
    return Export.objects.filter(pk=export.pk, state=Export.State.RUNNING, attempt=export.attempt)


def _write(export: Export, path: Path, progress: "_Progress") -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    run = Run.objects.with_totals().select_related("experiment__owner").get(pk=export.run_id)
    run.reader = export.owner
    with path.open("wb") as file, translation.override(export.language):
        for chunk in format_of(export.format).chunks(run, export.language, progress):
            file.write(chunk)


def _finish(export: Export, unfinished: Path) -> None:
    size = unfinished.stat().st_size
    if not _held(export).update(beat=Now()):
        raise ClaimLost
    unfinished.replace(export.path)
    told = {"state": Export.State.DONE, "progress": 1, "size": size, "ended": Now(), "error": ""}
    with transaction.atomic():
        if _held(export).update(**told):
            outbox.of_export(export, Kind.EXPORT_READY)


def _fail(export: Export, error: str) -> None:
    with transaction.atomic():
        if _held(export).update(state=Export.State.FAILED, error=error, ended=Now()):
            outbox.of_export(export, Kind.EXPORT_FAILED)


class _Progress:
    """How far a file is, written now and then. Raises ClaimLost and Interrupted, to end its making."""

    def __init__(self, export: Export, stop: threading.Event) -> None:
        self._export, self._stop, self._written = export, stop, 0.0

    def __call__(self, done: float) -> None:
        if self._stop.is_set():
            raise Interrupted
        if done - self._written < STEP:
            return
        self._written = done
        if not _held(self._export).update(progress=min(done, 1.0), beat=Now()):
            raise ClaimLost


@contextmanager
def _beating(export: Export) -> Iterator[None]:
    """Say that the worker is alive while a renderer says nothing: a page of a long report may take its time."""
    done = threading.Event()
    thread = threading.Thread(target=_beat, args=(export, done), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _beat(export: Export, done: threading.Event) -> None:
    try:
        while not done.wait(settings.EXPORT_LEASE_SECONDS / 4):
            _held(export).update(beat=Now())
    except DatabaseError:
        logger.warning("file=%s could not say that it is being made", export.pk)
    finally:
        connection.close()


def _forget_old() -> None:
    """Rows and files of long ago, and files of rows that are gone."""
    oldest = clock.ago(timedelta(days=settings.EXPORT_DAYS))
    for export in Export.objects.filter(ended__lt=oldest):
        export.path.unlink(missing_ok=True)
        export.delete()
    if not settings.EXPORTS_DIR.is_dir():
        return
    before = time.time() - settings.EXPORT_DAYS * 86_400
    for path in settings.EXPORTS_DIR.iterdir():
        if path.is_file() and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
