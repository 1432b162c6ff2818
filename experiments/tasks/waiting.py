"""Background work: claimed by one worker, its heartbeat written while it lasts, put back when its worker has died.

A row that waits is a `models.waiting.Claimable`; its class says what its states are called.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from experiments.models.waiting import OVER, Claimable, Waiting, WorkState
from experiments.tasks import clock
from experiments.tasks.room import said_of

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
STEP = 0.02  # progress is written when it has grown by so much
Work = TypeVar("Work", bound=Claimable)
Hook = Callable[[Any], object]


def nothing(row: Claimable) -> None:
    """Nothing more happens at its end."""


class ClaimLost(Exception):
    """Another worker does it now, or it is not wanted any more: this worker stops."""


class Interrupted(Exception):
    """The worker is asked to end; the work waits for the next one."""


class Failed(ValueError):
    """It cannot be done. The message says why, for its owner."""


class Progress:
    """How far the work is, written now and then. Raises ClaimLost and Interrupted, to end it. written: what was."""

    def __init__(self, row: Claimable, stop: threading.Event) -> None:
        self.row, self._stop, self.written, self._at = row, stop, -1.0, 0.0

    def __call__(self, done: float, **fields: Any) -> None:
        if self._stop.is_set():
            raise Interrupted
        is_due = time.monotonic() - self._at > self.row.lease_seconds() / 4
        if fields or is_due or done - self.written >= STEP:
            self.write(done, **fields)

    def write(self, done: float, **fields: Any) -> None:
        """At the beginning of a transaction that writes: a worker that has lost the claim writes nothing."""
        if self._stop.is_set():
            raise Interrupted
        self.written, self._at = done, time.monotonic()
        if not held(self.row).update(progress=min(done, 1.0), beat=Now(), **fields):
            raise ClaimLost


def _rows(model: type[Claimable]) -> Any:
    return model._default_manager


def held(row: Claimable) -> Any:
    """The row, as long as the claim is ours."""
    return _rows(type(row)).filter(pk=row.pk, state=row.RUNNING, attempt=row.attempt)


def claim(row: Claimable) -> bool:
    """True when this call did it."""
    claimed = {"state": row.RUNNING, "started": Now(), "beat": Now(), "attempt": F("attempt") + 1}
    if not _rows(type(row)).filter(pk=row.pk, state=row.QUEUED).update(**claimed):
        return False
    row.refresh_from_db()
    return True


def claim_next(model: type[Work]) -> Work | None:
    """The oldest that waits, if no other worker was faster."""
    oldest: Iterable[Work] = _rows(model).filter(state=model.QUEUED).order_by("created")[:20]
    for row in oldest:
        if claim(row):
            return row
    return None


def do(
    row: Work,
    work: Callable[[Work, Progress], dict[str, object]],
    stop: threading.Event,
    told: Hook = nothing,
    *,
    undo: Hook = nothing,
    after: Hook = nothing,
) -> None:
    """Do what was claimed; `work` gives the fields of its end, its state among them. told: called in the transaction of
    its end. undo: takes away what it has left, before it fails. after: called once its end is committed.
    """
    try:
        with _beating(row), translation.override(row.language):
            fields = work(row, Progress(row, stop))
        _end(row, {"progress": 1, row.REASON: "", **fields}, told, after)
    except (ClaimLost, Interrupted) as reason:
        logger.info("%s=%s left unfinished: %s", row._meta.model_name, row.pk, type(reason).__name__)
        held(row).update(state=row.QUEUED, progress=0, attempt=F("attempt") - 1)
    except Failed as reason:
        fail(row, str(reason), told, undo=undo, after=after)
    except DatabaseError:
        raise
    except Exception as error:  # whatever is wrong with this piece of work ends it, not the worker
        logger.exception("%s=%s has failed", row._meta.model_name, row.pk)
        with translation.override(row.language):
            said = said_of(error)
        fail(row, said, told, undo=undo, after=after)


def fail(row: Claimable, said: str, told: Hook = nothing, *, undo: Hook = nothing, after: Hook = nothing) -> None:
    """Unless the claim is lost. Undoing may take long, and is done in transactions of its own."""
    if held(row).update(beat=Now()):
        with _beating(row):
            undo(row)
        _end(row, {"state": row.FAILED, row.REASON: said[:2000]}, told, after)


def _end(row: Claimable, fields: dict[str, Any], told: Hook, after: Hook) -> None:
    with transaction.atomic():
        if not held(row).update(ended=Now(), **fields):
            return
        for name, value in fields.items():
            setattr(row, name, value)
        told(row)
    after(row)


def sweep(model: type[Work], told: Hook = nothing, *, undo: Hook = nothing, after: Hook = nothing) -> int:
    """Put back what dead workers held, give up what killed them. Returns how many wait."""
    silent = clock.ago(timedelta(seconds=model.lease_seconds()))
    abandoned = _rows(model).filter(state=model.RUNNING, beat__lt=silent)
    for row in abandoned.filter(attempt__gte=MOST_ATTEMPTS):
        with translation.override(row.language):
            said = _("The worker was stopped %(times)s times while doing this.") % {"times": MOST_ATTEMPTS}
        fail(row, said, told, undo=undo, after=after)
    abandoned.filter(attempt__lt=MOST_ATTEMPTS).update(state=model.QUEUED, progress=0)
    return int(_rows(model).filter(state=model.QUEUED).count())


def cancel(row: Waiting) -> bool:
    """Nothing more is done for it. False when it was over already."""
    under_way = _rows(type(row)).filter(pk=row.pk).exclude(state__in=OVER)
    return bool(under_way.update(state=WorkState.CANCELLED, ended=Now()))


@contextmanager
def _beating(row: Claimable) -> Iterator[None]:
    """Say that the worker is alive while the work says nothing."""
    done = threading.Event()
    thread = threading.Thread(target=_beat, args=(row, done), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _beat(row: Claimable, done: threading.Event) -> None:
    try:
        while not done.wait(row.lease_seconds() / 4):
            held(row).update(beat=Now())
    except DatabaseError:
        logger.warning("%s=%s could not say that it is worked on", row._meta.model_name, row.pk)
    finally:
        connection.close()
