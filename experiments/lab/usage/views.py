"""The usage page: what was spent by whom on what, as a page and as CSV."""

import csv
from decimal import Decimal
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.csv_cells import cell
from accounts.models import User
from accounts.people import person
from accounts.refusing import back_to
from experiments.lab.usage import billed
from experiments.lab.usage.spent import DIMENSIONS, Totals, Usage, days_of, projects_of, scope_of
from experiments.lab.usage.spent import usage as found_usage
from experiments.models.labels import PURPOSES
from experiments.runs.drawings import bars

COLUMNS = Totals.__slots__


@login_required
@require_GET
def usage(request: HttpRequest) -> HttpResponse:
    """Mine, a project's that I lead, or the lab's for its administrators."""
    scope = scope_of(person(request), request.GET)
    back_to(request, "usage")
    found = found_usage(scope, *days_of(request.GET))
    bills = billed.differences(found.since, found.until) if scope.kind == "lab" else []
    context = {
        "scope": scope,
        "bills": bills,
        "alarms": sum(bill.is_alarming for bill in bills),
        "usage": found,
        "tables": [_table(name, found) for name in DIMENSIONS[:-1] if name != "person" or scope.kind != "me"],
        "drawing": bars.columns([(day, float(totals.cost)) for day, totals in found.by["day"]]),
        "projects": projects_of(person(request)),
        "may_see_lab": person(request).role == User.Role.ADMIN,
    }
    return render(request, "budgets/usage.html", context)


@login_required
@require_GET
def usage_csv(request: HttpRequest) -> HttpResponse:
    """The same numbers: one row for each value of each dimension."""
    found = found_usage(scope_of(person(request), request.GET), *days_of(request.GET))
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"usage-{found.since}-{found.until}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    writer = csv.writer(response)
    writer.writerow(("dimension", "value", *COLUMNS))
    for dimension in DIMENSIONS:
        for value, totals in found.by[dimension]:
            numbers = [getattr(totals, name) for name in COLUMNS]
            shown = [f"{number:.10f}" if isinstance(number, Decimal) else str(number) for number in numbers]
            writer.writerow((dimension, cell(value), *shown))
    return response


def _table(name: str, found: Usage) -> dict[str, Any]:
    words = {"person": _("By person"), "project": _("By project"), "model": _("By model"), "role": _("By role")}
    nothing = {"project": _("no project")}
    most = max((totals.cost for _value, totals in found.by[name]), default=0)
    rows = [
        {
            "label": str(PURPOSES.get(value, value)) if name == "role" else value or nothing.get(name, "–"),
            "totals": totals,
            "width": float(100 * totals.cost / most) if most else 0.0,
        }
        for value, totals in found.by[name]
    ]
    return {"name": name, "title": words[name], "rows": rows}
