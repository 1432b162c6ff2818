"""The pages of reports and exports: buttons that answer with a file, and the wait for a long one."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from accounts.refusing import back_to
from experiments.models import Export
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import (
    EXPORTS,
    FORMATS,
    REPORTS,
    Format,
    current_language,
    file_response,
    format_of,
    run_response,
    visible_run,
)
from experiments.tasks import clock


@for_readers
@require_GET
def report(request: HttpRequest, pk: UUID, format: str) -> HttpResponseBase:
    return _direct(request, pk, REPORTS.get(format))


@for_readers
@require_GET
def export(request: HttpRequest, pk: UUID, format: str) -> HttpResponseBase:
    return _direct(request, pk, EXPORTS.get(format))


@for_readers
@require_POST
def run_files(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A button of the run's page: the file of a short run comes at once, that of a long one is made by a worker."""
    run, name = visible_run(request, pk), request.POST.get("format", "")
    if name not in FORMATS:
        messages.error(request, _("This format is not available."))
        return redirect(run)
    if not jobs.is_long(run) or not request.user.is_authenticated:
        return redirect("run-report" if name in REPORTS else "run-export", pk=pk, format=name)
    made = jobs.file_for(run, by=person(request), format_=FORMATS[name], language=current_language())
    jobs.wake()
    return redirect(made)


@login_required
@require_GET
def file(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The progress of a file. Without JavaScript the page loads itself again."""
    shown = _visible_file(request, pk)
    eta = None  # as long as the rest takes at the pace so far, while anything can be said
    if shown.state == Export.State.RUNNING and shown.started and shown.progress > 0:
        so_far = (clock.now() - shown.started).total_seconds()
        eta = max(1, round(so_far / shown.progress * (1 - shown.progress)))
    context = {"file": shown, "run": shown.run, "format": format_of(shown.format), "eta": eta}
    return render(request, "experiments/export.html", context)


@login_required
@require_GET
def file_download(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    shown = _visible_file(request, pk)
    if shown.state != Export.State.DONE:
        return redirect(shown)
    back_to(request, shown.run)
    return file_response(request, shown)


def _direct(request: HttpRequest, pk: UUID, format_: Format | None) -> HttpResponseBase:
    run = visible_run(request, pk)
    if format_ is None:
        raise Http404
    return run_response(request, run, format_, current_language())


def _visible_file(request: HttpRequest, pk: UUID) -> Export:
    return get_object_or_404(Export.objects.visible_to(request.user).select_related("run__experiment"), pk=pk)
