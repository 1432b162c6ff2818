"""The pages of imports: a file is sent, what is in it is shown, and stored when its sender says so."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import Invalid, Refusal
from accounts.people import person
from experiments.library.imports import own, queueing, storing
from experiments.models import RunImport
from experiments.models.imports import ImportSource
from experiments.models.waiting import WorkState
from experiments.runs.reports import json_values
from experiments.runs.reports.json_values import InvalidDocument

IMPORTS_SHOWN = 10


@login_required
def import_run(request: HttpRequest) -> HttpResponse:
    """A report in JSON becomes a run at once; of any other file it is shown first what would come in."""
    if request.method != "POST":
        return _form(request)
    try:
        sent = request.FILES.get("file")
        if not isinstance(sent, UploadedFile):
            raise InvalidDocument({"file": [_("Choose a file with runs.")]})
        if (report := _report_in(sent)) is not None:
            run, is_new = storing.store_report(report, name=sent.name or "", by=person(request))
            said = _("The run was imported.") if is_new else _("This run was imported before. Nothing new was created.")
            messages.success(request, said)
            return redirect(run)
        asked = request.POST.get("source", "")
        source, language = asked if asked in ImportSource.values else "", get_language() or settings.LANGUAGE_CODE
        row = queueing.keep(sent, by=person(request), language=language, source=source)
    except Invalid as error:
        return _form(request, 422, errors=error.errors)
    except Refusal as error:
        return _form(request, error.status, refusal=str(error))
    if row.state == WorkState.FAILED:
        row.delete()
        return _form(request, 422, errors={row.name: [row.error]})
    return redirect(row)


@login_required
@require_GET
def imported(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What is in a file, or what became of it. Without JavaScript it is looked at again by hand."""
    row = _row(request, pk)
    report = row.report
    new = report.get("found", 0) - report.get("known", 0)
    context = {"file": row, "report": report, "new": new, "is_battles": row.source == ImportSource.GENARENA}
    return render(request, "imports/file.html", context)


@login_required
@require_POST
def store(request: HttpRequest, pk: UUID) -> HttpResponse:
    return redirect(queueing.confirm(_row(request, pk)))


@login_required
@require_POST
def cancel(request: HttpRequest, pk: UUID) -> HttpResponse:
    row = _row(request, pk)
    if queueing.cancel(row):
        messages.success(request, _("The upload is discarded. Runs stored before are kept."))
    return redirect("run-import")


def _form(request: HttpRequest, status: int = 200, **said: object) -> HttpResponse:
    context = {
        "sources": ImportSource.choices,
        "most": settings.UPLOAD_BYTES >> 20,
        "may": person(request).may_experiment,
        "imports": RunImport.objects.visible_to(request.user).defer("report")[:IMPORTS_SHOWN],
        "chosen": request.POST.get("source", ""),
        **said,
    }
    return render(request, "experiments/import.html", context, status=status)


def _report_in(sent: "UploadedFile[Any]") -> object | None:
    """The report of one run, if that is what the file holds. It is rewound for whoever reads it next."""
    if (sent.size or 0) > json_values.MOST_BYTES:
        return None
    try:
        value: object = json_values.parse(sent.read())
    except InvalidDocument:
        value = None
    finally:
        sent.seek(0)
    return value if own.is_document(value) else None


def _row(request: HttpRequest, pk: UUID) -> RunImport:
    return get_object_or_404(RunImport.objects.visible_to(request.user).select_related("dataset"), pk=pk)
