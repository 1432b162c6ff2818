"""The pages of bulk exports: choose a format for runs that were found, wait, download."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.attachments import to_be_saved
from accounts.errors import Forbidden, Invalid
from accounts.people import person
from accounts.refusing import back_to
from experiments.library.bulk import making, selecting
from experiments.library.bulk.formats import FORMATS, MANIFEST
from experiments.models import BulkExport, Experiment
from experiments.models.waiting import WorkState

EXPORTS_SHOWN = 25


@login_required
def exports(request: HttpRequest) -> HttpResponse:
    """What was chosen on the way here, the formats for it, and the exports of before."""
    given = request.POST if request.method == "POST" else request.GET
    asked: dict[str, Any] = {name: given.getlist(name) if name == "runs" else given[name] for name in given}
    try:
        if request.method == "POST":
            if (name := request.POST.get("format", "")) not in FORMATS:
                raise Invalid(format=_("This format is not available."))
            language = get_language() or settings.LANGUAGE_CODE
            return redirect(making.ask(asked, by=person(request), format_=FORMATS[name], language=language))
        context: dict[str, Any] = {"count": selecting.chosen(asked, by=person(request)).count()}
    except Invalid as error:
        return _page(request, asked, 422, errors=error.errors)
    except Forbidden as error:
        return _page(request, asked, error.status, refusal=str(error))
    return _page(request, asked, **context)


@login_required
@require_GET
def export(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far it is, what it holds. Without JavaScript the page is looked at again by hand."""
    row = _row(request, pk)
    context = {"file": row, "format": FORMATS[row.format], "days": round(settings.EXPORT_DAYS)}
    return render(request, "exports/export.html", context)


@login_required
@require_GET
def download(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    row = _row(request, pk)
    if row.state != WorkState.DONE:
        return redirect(row)
    back_to(request, "bulk-exports")
    return making.response(request, row, by=person(request))


@login_required
@require_GET
def manifest(request: HttpRequest, pk: UUID) -> HttpResponse:
    row = _row(request, pk)
    if row.state != WorkState.DONE:
        return redirect(row)
    response = JsonResponse({**row.manifest, "size": row.size, "sha256": row.sha256})
    return to_be_saved(response, "application/json", f"{row.name}.{MANIFEST}")


@login_required
@require_POST
def cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    row = _row(request, pk)
    if making.cancel(row):
        messages.success(request, _("The export was cancelled."))
    return redirect("bulk-exports")


def _page(request: HttpRequest, asked: dict[str, Any], status: int = 200, **more: Any) -> HttpResponse:
    shown = {name: value for name, value in asked.items() if name not in selecting.PASSED_OVER and value}
    pairs = [(name, one) for name, value in shown.items() for one in (value if isinstance(value, list) else [value])]
    try:
        experiments = Experiment.objects.visible_to(request.user).filter(pk=UUID(str(shown.get("experiment"))))
    except ValueError:
        experiments = Experiment.objects.none()
    context = {
        "asked": shown,
        "pairs": pairs,
        "experiment": experiments.first(),
        "formats": FORMATS.values(),
        "exports": BulkExport.objects.visible_to(request.user).defer("runs", "manifest")[:EXPORTS_SHOWN],
        "days": round(settings.EXPORT_DAYS),
        **more,
    }
    return render(request, "exports/exports.html", context, status=status)


def _row(request: HttpRequest, pk: UUID) -> BulkExport:
    return get_object_or_404(BulkExport.objects.visible_to(request.user), pk=pk)
