"""What Prometheus reads, and what is going on: as a page and over the API."""

from collections.abc import Sequence
from secrets import compare_digest
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import ForAdmins
from accounts.models import User
from accounts.people import for_admins
from experiments.api.shapes import shape
from experiments.lab.observing.backups import Backup
from experiments.lab.observing.exposition import exposition
from experiments.lab.observing.limits import ModelUse
from experiments.lab.observing.status import AtWork, Failures, Hour, Machines, Report, Spent, Status, report
from experiments.runs.drawings import bars


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For requests with `ARENA_METRICS_TOKEN`, and for administrators; 404 for all others."""
    scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.METRICS_TOKEN
    is_bearer = bool(wanted) and scheme.lower() == "bearer"
    shows_token = is_bearer and compare_digest(token.strip().encode(), wanted.encode())
    if not shows_token and not (isinstance(request.user, User) and request.user.is_admin):
        raise Http404
    text, content_type = exposition(request.headers.get("Accept", ""))
    return HttpResponse(text, content_type=content_type)


@for_admins
@require_safe
def operator(request: HttpRequest) -> HttpResponse:
    """What is going on now."""
    return render(request, "operator/operator.html", _context())


@for_admins
@never_cache
@require_safe
def now(request: HttpRequest) -> HttpResponse:
    """The same without what stands around it."""
    return render(request, "operator/_now.html", _context())


Count = int | None  # null while it is not known

Runs = shape("_Runs", workflow=str, queued=Count, running=Count, waiting=Count, stopping=Count)
Leases = shape(
    "_Leases",
    doc="ending: with less than half of their time left. ended: nobody has taken the run yet.",
    held=int,
    ending=int,
    ended=int,
)
Queue = shape(
    "_Queue",
    doc="waits: waiting work in the database; null for ratings, which have none. "
    "`bells`: jobs in Redis that no worker has taken.",
    name=str,
    waits=Count,
    bells=Count,
    workers=Count,
)
Worker = shape(
    "_Worker",
    AtWork,
    doc="runs: the number it executes, as the worker reports it; null for other kinds of workers and without a report.",
    is_silent=bool,
)
LastBackup = shape(
    "_Backup",
    Backup,
    doc="size: in bytes. sha256: of its manifest, which names the hash of everything. "
    "verified: when `verify_backup` last\nfound it whole; null if it has not.",
)
Limits = shape(
    "_Limits",
    ModelUse,
    doc="One for each model that is asked, of all workers. requests, tokens: of the last minute; null without a limit. "
    "closed_until: the provider takes no requests before; null while it does.",
)
SpentToday = shape("_Spent", Spent, doc="In US dollars, of today (UTC). unpriced: calls whose cost nobody knows.")


class _Disk(serializers.Serializer[Status]):
    size = serializers.IntegerField(source="disk_size", allow_null=True)
    free = serializers.IntegerField(source="disk_free", allow_null=True)


class OperatorSerializer(serializers.Serializer[Report]):
    """A value is null when its source does not answer. failures: calls of the last hour. last_backup: null when there
    is none.
    """

    at = serializers.DateTimeField(source="now.at")
    database_up = serializers.BooleanField()
    redis_up = serializers.BooleanField()
    runs = Runs(many=True)
    oldest_queued_seconds = serializers.FloatField(allow_null=True)
    leases = Leases(source="now.database.leases", allow_null=True)
    queues = Queue(many=True)
    workers = Worker(many=True)
    calls = shape("_Calls", provider=str, count=int)(many=True)
    failures = shape("_Failures", Failures)(many=True)
    paused = shape("_Paused", provider=str, models=int)(many=True)
    limits = Limits(many=True)
    viewers = serializers.IntegerField(allow_null=True)
    spent_today = SpentToday(source="lately.spent", allow_null=True)
    hours = shape("_Hour", Hour)(many=True)
    disk = _Disk(source="now")
    last_backup = LastBackup(source="now.database.backup", allow_null=True)
    machines = shape("_Machines", Machines, doc="Sizes in bytes.")()


class OperatorView(ForAdmins):
    @extend_schema(responses={200: OperatorSerializer})
    def get(self, request: Request) -> Response:
        """The system status: workers, queues, leases, failures and cost."""
        return Response(OperatorSerializer(report()).data)


def _context() -> dict[str, Any]:
    found = report()
    return {"report": found, "charts": _charts(found.hours) if found.lately else []}


def _charts(hours: Sequence[Hour]) -> list[dict[str, Any]]:
    drawn = (
        ("calls", _("Calls in each hour"), [float(hour.calls) for hour in hours]),
        ("failed", _("Calls that failed or were lost"), [float(hour.failed) for hour in hours]),
        ("cost", _("Cost in each hour, in US dollars"), [float(hour.cost) for hour in hours]),
    )
    names = [f"{hour.began:%H:%M}" for hour in hours]
    return [
        {
            "name": name,
            "title": title,
            "is_money": name == "cost",
            "drawing": bars.columns(list(zip(names, values, strict=True))),
        }
        for name, title, values in drawn
    ]
