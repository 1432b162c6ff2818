"""The audit log as admins read it."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from accounts.attachments import streamed
from accounts.csv_cells import BOM, csv_line
from accounts.models import AuditEntry
from accounts.people import for_admins

ON_A_PAGE = 50
COLUMNS = ("id", "at", "action", "actor_id", "actor", "target", "name", "detail", "address")


class AuditForm(forms.Form):
    """What of the audit log is looked for; everything may be left out."""

    person = forms.CharField(label=_("Person"), required=False, max_length=150)
    deed = forms.ChoiceField(label=_("Action"), required=False, choices=[("", _("any")), *AuditEntry.Action.choices])
    target = forms.CharField(label=_("Target"), required=False, max_length=200)
    since = forms.DateField(label=_("From (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("To (UTC)"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    before = forms.IntegerField(required=False, min_value=1)


@for_admins
def record(request: HttpRequest) -> HttpResponse:
    """Newest first. A page begins below the entry that the one before ended with, so that none is skipped or twice."""
    form = AuditForm(request.GET)
    found = list(found_by(form)[: ON_A_PAGE + 1])
    page, has_more = found[:ON_A_PAGE], len(found) > ON_A_PAGE
    older = _query(request, before=str(page[-1].pk)) if has_more else ""
    context = {"form": form, "entries": page, "older": older, "all": _query(request, before="")}
    context["is_filtered"] = any(form.data.get(name) for name in form.fields)
    return render(request, "accounts/audit.html", context)


@for_admins
def table(request: HttpRequest) -> StreamingHttpResponse:
    """All that fits the filters, as CSV, a few rows at a time."""
    rows = found_by(AuditForm(request.GET)).values_list(*COLUMNS).iterator(chunk_size=2000)
    response = streamed(request, _lines(rows))
    response["Content-Type"] = "text/csv; charset=utf-8"
    response["Content-Disposition"] = f'attachment; filename="audit-{datetime.now(UTC):%Y-%m-%d}.csv"'
    return response


def found_by(form: AuditForm) -> "QuerySet[AuditEntry]":
    """Nothing, when a filter cannot be read: a wrong date must not look like a quiet day."""
    found = AuditEntry.objects.order_by("-id")
    if not form.is_valid():
        return found.none()
    asked = form.cleaned_data
    since, until, target = asked["since"], asked["until"], asked["target"]
    wanted = {
        "actor__icontains": asked["person"],
        "action": asked["deed"],
        "at__gte": since and datetime.combine(since, time.min, UTC),
        "at__lt": until and datetime.combine(until + timedelta(days=1), time.min, UTC),
        "pk__lt": asked["before"],
    }
    found = found.filter(**{lookup: value for lookup, value in wanted.items() if value})
    return found.filter(Q(target=target) | Q(name__icontains=target)) if target else found


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    yield BOM + csv_line(COLUMNS)
    for *others, detail, address in rows:
        yield csv_line([*others, json.dumps(detail, ensure_ascii=False) if detail else "", address])


def _query(request: HttpRequest, **changed: str) -> str:
    query = request.GET.copy()
    for name, value in changed.items():
        query[name] = value
        if not value:
            del query[name]
    return query.urlencode()
