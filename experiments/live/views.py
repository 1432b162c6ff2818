"""What has happened in a run since, over plain HTTP: for a page whose WebSocket is blocked."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.fragments import look_of
from experiments.live import news
from experiments.models import Run


@for_readers
@require_GET
def run_news(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The events after number `after` with their fragments, and the text that is being written."""
    run, after = _run(request, pk), request.GET.get("after", "0")
    if not after.isascii() or not after.isdigit() or len(after) > 18:
        return JsonResponse({"after": [_("A whole number is needed.")]}, status=400)
    experiment = run.experiment
    return JsonResponse(news.since(run.pk, int(after), get_language(), look_of(experiment), experiment.labels))


def _run(request: HttpRequest, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
