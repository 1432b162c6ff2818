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
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.people import ForAdmins
from accounts.models import User
from accounts.people import for_admins
from experiments.lab.observing.exposition import exposition
from experiments.lab.observing.report import OperatorSerializer, report
from experiments.lab.observing.status import Hour
from experiments.runs.drawings import bars


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For whoever shows `ARENA_METRICS_TOKEN`, and for administrators. To everybody else there is no such address."""
    if not (_shows_token(request) or (isinstance(request.user, User) and request.user.is_admin)):
        raise Http404
    text, content_type = exposition(request.headers.get("Accept", ""))
    return HttpResponse(text, content_type=content_type)


def _shows_token(request: HttpRequest) -> bool:
    scheme, _blank, token = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.METRICS_TOKEN
    return bool(wanted) and scheme.lower() == "bearer" and compare_digest(token.strip().encode(), wanted.encode())


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


class OperatorView(ForAdmins):
    @extend_schema(responses={200: OperatorSerializer})
    def get(self, request: Request) -> Response:
        """What is going on now, and what the last hours brought."""
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
