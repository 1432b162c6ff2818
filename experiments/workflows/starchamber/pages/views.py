"""StarChamber's pages beside its run's: the figures of a talk, and the tokens of an answer."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.models import Message, Run
from experiments.workflows.starchamber.pages import figures as talk_figures


@for_readers
@require_GET
def figures(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The figures of a talk alone, fetched again whenever something was said."""
    runs = Run.objects.visible_to(request.user).filter(experiment__workflow="starchamber")
    run = get_object_or_404(runs.select_related("experiment"), pk=pk)
    return render(request, "workflows/starchamber/_figures.html", {"run": run, "figures": talk_figures.of(run)})


@for_readers
@require_GET
def message_tokens(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The tokens of an answer with their probabilities, as a page; for a script (`?part=1`) the view alone."""
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    message = get_object_or_404(rows.select_related("run__experiment", "call__model"), pk=pk)
    context = {"message": message, "run": message.run, "reading": talk_figures.read_tokens(message)}
    page = "workflows/starchamber/_tokens.html" if request.GET.get("part") else "workflows/starchamber/tokens.html"
    return render(request, page, context)
