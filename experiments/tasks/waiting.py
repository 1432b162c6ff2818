"""Doing what waits for a worker: claimed by one, its beat heard while it lasts, put back when its worker has died."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import translation
from django.utils.translation import gettext as _

from experiments.models.waiting import Waiting, WorkState
from experiments.tasks import clock
from experiments.tasks.room import said_of

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 3
STEP = 0.02  # progress is written when it has grown by so much
Work = TypeVar("Work", bound=Waiting)
Told = Callable[[Any], None]  # of the row that has ended, in the transaction of its end


def nobody_is_told(row: Waiting) -> None:
    """Its end is seen in its row alone."""


class ClaimLost(Exception):
    """Another worker does it now, or it is not wanted any more: this worker stops."""


class Interrupted(Exception):
    """The worker is asked to end; the work waits for the next one."""


class Progress:
    """How far the work is, written now and then. Raises ClaimLost and Interrupted, to end it."""

    def __init__(self, row: Waiting, stop: threading.Event) -> None:
        self._row, self._stop, self._written = row, stop, -1.0

    def __call__(self, done: float, **fields: Any) -> None:
        if self._stop.is_set():
            raise Interrupted
        if done - self._written < STEP and not fields:
            return
        self._written = done
        if not held(self._row).update(progress=min(done, 1.0), beat=Now(), **fields):
            raise ClaimLost


def held(row: Waiting) -> Any:
    """The row, as long as the claim is ours."""
    return type(row)._default_manager.filter(pk=row.pk, state=WorkState.RUNNING, attempt=row.attempt)


def claim(row: Waiting) -> bool:
    """True when this call did it."""
    claimed = {"state": WorkState.RUNNING, "started": Now(), "beat": Now(), "attempt": F("attempt") + 1}
    if not type(row)._default_manager.filter(pk=row.pk, state=WorkState.QUEUED).update(**claimed):
        return False
    row.refresh_from_db()
    return True


def claim_next(model: type[Work]) -> Work | None:
    """The oldest that waits, if no other worker was faster."""
    for row in model._default_manager.filter(state=WorkState.QUEUED).order_by("created")[:20]:
        if claim(row):
            return row
    return None


def do(
    row: Work,
    work: Callable[[Work, Progress], dict[str, object]],
    stop: threading.Event,
    told: Told = nobody_is_told,
) -> None:
    """Do what was claimed; `work` gives the fields of its end, its state among them."""
    try:
        with beating(row), translation.override(row.language):
            fields = work(row, Progress(row, stop))
        _end(row, {"progress": 1, "error": "", **fields}, told)
    except (ClaimLost, Interrupted) as reason:
        logger.info("%s=%s left unfinished: %s", row._meta.model_name, row.pk, type(reason).__name__)
        held(row).update(state=WorkState.QUEUED, progress=0, attempt=F("attempt") - 1)
    except DatabaseError:
        raise
    except Exception as error:  # whatever is wrong with this piece of work ends it, not the worker
        logger.exception("%s=%s has failed", row._meta.model_name, row.pk)
        with translation.override(row.language):
            said = said_of(error)
        fail(row, said, told)


def fail(row: Waiting, said: str, told: Told = nobody_is_told) -> None:
    _end(row, {"state": WorkState.FAILED, "error": said[:2000]}, told)


def _end(row: Waiting, fields: Mapping[str, object], told: Told) -> None:
    with transaction.atomic():
        if held(row).update(ended=Now(), **fields):
            row.state = str(fields["state"])
            told(row)


def sweep(model: type[Work], told: Told = nobody_is_told) -> int:
    """Put back what dead workers held, give up what killed them. Returns how many wait."""
    running = model._default_manager.filter(state=WorkState.RUNNING)
    abandoned = running.filter(beat__lt=clock.ago(timedelta(seconds=settings.EXPORT_LEASE_SECONDS)))
    for row in abandoned.filter(attempt__gte=MOST_ATTEMPTS):
        with translation.override(row.language):
            said = _("The worker was ended %(times)s times while it did this.") % {"times": MOST_ATTEMPTS}
        fail(row, said, told)
    abandoned.filter(attempt__lt=MOST_ATTEMPTS).update(state=WorkState.QUEUED, progress=0)
    return model._default_manager.filter(state=WorkState.QUEUED).count()


def cancel(row: Waiting) -> bool:
    """Nothing more is done for it. False when it was over already."""
    under_way = type(row)._default_manager.filter(
        pk=row.pk, state__in=(WorkState.QUEUED, WorkState.RUNNING, WorkState.READY)
    )
    return bool(under_way.update(state=WorkState.CANCELLED, ended=Now()))


@contextmanager
def beating(row: Waiting) -> Iterator[None]:
    """Say that the worker is alive while the work says nothing."""
    done = threading.Event()
    thread = threading.Thread(target=_beat, args=(row, done), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _beat(row: Waiting, done: threading.Event) -> None:
    try:
        while not done.wait(settings.EXPORT_LEASE_SECONDS / 4):
            held(row).update(beat=Now())
    except DatabaseError:
        logger.warning("%s=%s could not say that it is worked on", row._meta.model_name, row.pk)
    finally:
        connection.close()
