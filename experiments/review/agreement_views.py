"""How far the people of a queue agree, as a page and as a file."""

import csv
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.errors import Forbidden
from experiments.models import ReviewQueue
from experiments.review import agreement, rubrics
from experiments.review.agreement import Report
from experiments.review.coefficients import FEW, Figure, Measure
from leaderboard.ratings.values import Undefined

COLUMNS = (
    *("measure", "level", "statistic", "first", "second", "items", "value", "low", "high", "undefined"),
    *("mean_first", "mean_second"),
)


@login_required
@require_GET
def page(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = readable(request, pk)
    is_manager = ReviewQueue.objects.manageable_by(request.user).filter(pk=shown.pk).exists()
    context = {"queue": shown, "report": agreement.of(shown), "is_manager": is_manager, "few": FEW}
    return render(request, "review/agreement.html", {**context, "rubric_title": rubrics.title_of(shown.rubric)})


@login_required
@require_GET
def as_csv(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = readable(request, pk)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="agreement-{shown.pk}.csv"'
    writer = csv.DictWriter(answer, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows(agreement.of(shown)))
    return answer


def readable(request: Any, pk: UUID) -> ReviewQueue:
    """A queue whose agreement the person may read. Whoever still reviews blind in it is not told how others answer."""
    shown = get_object_or_404(ReviewQueue.objects.visible_to(request.user).select_related("rubric"), pk=pk)
    is_manager = ReviewQueue.objects.manageable_by(request.user).filter(pk=shown.pk).exists()
    if shown.is_blind and shown.is_open and not is_manager:
        raise Forbidden(_("This queue is reviewed blind: its agreement is shown to you once it is closed."))
    return shown


def rows(report: Report) -> Iterator[dict[str, object]]:
    """One line for each figure. What does not exist has its reason in place of a value."""
    for measure in report.measures:
        about = {"measure": measure.name, "level": measure.level}
        yield {**about, "statistic": "krippendorff_alpha", "items": measure.items, **_cells(measure.alpha)}
        yield {**about, "statistic": "fleiss_kappa", "items": measure.items, **_cells(measure.fleiss)}
        yield from ({**about, **one} for one in _pairs(measure))
        if measure.judge:
            judge = measure.judge
            means = {"mean_first": judge.judge, "mean_second": judge.people}
            names = {"first": "judge", "second": "people", "items": judge.items}
            yield {**about, "statistic": "judge_alpha", **names, **means, **_cells(judge.alpha)}


def _pairs(measure: Measure) -> Iterator[dict[str, Any]]:
    for pair in measure.pairs:
        names = {"first": safe(pair.first), "second": safe(pair.second), "items": pair.items}
        yield {"statistic": "cohen_kappa", **names, **_cells(pair.kappa)}


def _cells(figure: Figure) -> dict[str, Any]:
    if isinstance(figure.value, Undefined):
        return {"undefined": figure.value.reason.value}
    around = (
        {} if isinstance(figure.interval, Undefined) else {"low": figure.interval.low, "high": figure.interval.high}
    )
    return {"value": figure.value, **around}


def safe(text: str) -> str:
    """No spreadsheet takes a name for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text
