"""Notifications: runs that wait or failed, files that are ready, reviews that are asked for.

All of it follows from rows; only the time at which a person last marked them as read is stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from accounts.models import User
from accounts.people import person
from experiments.models import (
    BulkExport,
    Call,
    Export,
    LogImport,
    ReviewQueue,
    Run,
    RunImport,
    SeatedPerson,
    Step,
    Upload,
)
from experiments.models.run import RECORDS
from experiments.models.waiting import WorkState
from experiments.runs.seats import turns
from experiments.tasks import clock
from experiments.workflows import surface_of
from experiments.workflows.shards import without_shards

DAYS = 14  # for which what has happened is listed
MOST_OF_A_KIND = 10
FINISHED: dict[Any, dict[Any, tuple[str, Any]]] = {  # of files: the icon and the words of each state
    BulkExport: {WorkState.DONE: ("completed", _("Export ready")), WorkState.FAILED: ("failed", _("Export failed"))},
    Export: {WorkState.DONE: ("completed", _("File ready")), WorkState.FAILED: ("failed", _("File failed"))},
    RunImport: {
        WorkState.READY: ("waiting", _("Import waits for you")),
        WorkState.DONE: ("completed", _("Import finished")),
        WorkState.FAILED: ("failed", _("Import failed")),
    },
    Upload: {
        Upload.State.DONE: ("completed", _("File imported")),
        Upload.State.REFUSED: ("failed", _("File refused")),
    },
    LogImport: {
        LogImport.State.DONE: ("completed", _("Battles imported")),
        LogImport.State.REFUSED: ("failed", _("Battles refused")),
    },
}


@dataclass(frozen=True, slots=True)
class Notice:
    icon: str
    words: Any
    title: str
    address: str
    at: datetime
    is_new: bool


@dataclass(frozen=True, slots=True)
class Notices:
    """notices: the new ones first, each part from the latest on. count: of the new ones."""

    notices: list[Notice]

    @property
    def count(self) -> int:
        return sum(one.is_new for one in self.notices)


def waiting(who: User) -> Any:
    """Their runs that do not continue without a word of theirs, the latest first; not those that wait for others."""
    at_pause = Step.objects.filter(run=OuterRef("pk"), kind="listen", state=Step.State.OPEN)
    rows = without_shards(Run.objects.owned_by(who)).filter(state=Run.State.WAITING, is_held=False)
    of_others = SeatedPerson.objects.filter(experiment=OuterRef("experiment"))
    in_batch = Call.objects.filter(run=OuterRef("pk"), state=Call.State.BATCHED)
    rows = rows.filter(Exists(at_pause) | ~(Exists(of_others) | Exists(in_batch)))
    return rows.select_related("experiment").order_by("-waiting_since", "-pk")


def failed(who: User) -> Any:
    """Their runs that failed lately, or that a budget has stopped, the latest first."""
    rows = without_shards(Run.objects.owned_by(who)).exclude(origin__in=RECORDS).filter(ended__gte=_begin())
    has_failed = Q(state=Run.State.FAILED) | Q(state=Run.State.STOPPED, stop_reason__startswith="budget_")
    return rows.filter(has_failed).select_related("experiment").order_by("-ended", "-pk")


def queues(who: User) -> Any:
    """Open queues in which they review, with the number of answers that are missing, as `left`."""
    left = Count("items__slots", filter=Q(items__slots__answer__isnull=True), distinct=True)
    return ReviewQueue.objects.open_to(who).annotate(left=left).filter(left__gt=0).order_by("-created", "-pk")


def notices_of(who: User) -> Notices:
    read = who.notifications_read
    found = [
        Notice(icon, words, title, address, at, read is None or at > read)
        for icon, words, title, address, at in (*_of_seats(who), *_of_runs(who), *_of_files(who), *_of_reviews(who))
    ]
    return Notices(sorted(found, key=lambda one: (one.is_new, one.at), reverse=True))


Told = Iterator[tuple[str, Any, str, str, datetime]]


def _of_runs(who: User) -> Told:
    for run in waiting(who)[:MOST_OF_A_KIND]:
        yield "waiting", _("Run waits for you"), run.experiment.title, run.get_absolute_url(), run.waiting_since
    for run in failed(who)[:MOST_OF_A_KIND]:
        words = _("Run failed") if run.state == Run.State.FAILED else _("Budget used up")
        yield "failed", words, run.experiment.title, run.get_absolute_url(), run.ended


def _of_seats(who: User) -> Told:
    """Questions to them as a person in a seat. The title stays with those who may see the run."""
    for seated, turn in turns.waiting_for(who)[:MOST_OF_A_KIND]:
        name = str(surface_of(seated.experiment.workflow).name)
        yield "person", _("Your answer is needed"), name, seated.get_absolute_url(), turn.step.created


def _of_files(who: User) -> Told:
    for kind, states in FINISHED.items():
        rows = kind.objects.visible_to(who).filter(state__in=states, created__gte=_begin())
        if kind in (Upload, LogImport):
            rows = rows.select_related("dataset")
        for row in rows.order_by("-created")[:MOST_OF_A_KIND]:
            icon, words = states[row.state]
            yield icon, words, row.name, row.get_absolute_url(), row.ended or row.beat or row.created


def _of_reviews(who: User) -> Told:
    asked = Max("members__created", filter=Q(members__user=who))
    for queue in queues(who).annotate(asked=asked)[:MOST_OF_A_KIND]:
        words = ngettext("%(n)d item to review", "%(n)d items to review", queue.left) % {"n": queue.left}
        yield "call", words, queue.name, queue.get_absolute_url(), queue.asked or queue.filled or queue.created


def _begin() -> datetime:
    return clock.now() - timedelta(days=DAYS)


@login_required
@never_cache
@require_GET
def show(request: HttpRequest) -> HttpResponse:
    return render(request, "notifications/list.html", {"notifications": notices_of(person(request))})


@login_required
@never_cache
@require_GET
def menu(request: HttpRequest) -> HttpResponse:
    """The menu in the header, which pages fetch when they are open."""
    return _menu(request)


@login_required
@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """All that there is now has been read."""
    who = person(request)
    who.notifications_read = clock.now()
    who.save(update_fields=["notifications_read"])
    return _menu(request) if "HX-Request" in request.headers else redirect("notifications")


def _menu(request: HttpRequest) -> HttpResponse:
    return render(request, "includes/notifications.html", {"notifications": notices_of(person(request))})
