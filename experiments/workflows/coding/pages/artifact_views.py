"""The artifacts of a contest, for whoever may see its run."""

from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from accounts.attachments import streamed, to_be_saved
from accounts.people import for_readers
from experiments.models import Run
from experiments.runs.reports.document import file_name
from experiments.workflows.coding import WORKFLOW
from experiments.workflows.coding.pages import artifacts


@for_readers
@require_GET
def run_artifacts(request: HttpRequest, pk: UUID) -> StreamingHttpResponse:
    """A zip with every cycle so far."""
    runs = Run.objects.visible_to(request.user).select_related("experiment")
    run = get_object_or_404(runs, pk=pk, experiment__workflow=WORKFLOW.slug)
    return to_be_saved(streamed(request, artifacts.zipped(run)), "application/zip", file_name(run, "zip"))
