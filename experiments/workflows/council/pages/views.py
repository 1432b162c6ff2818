"""The council's pages beside its run's: asking on, and the count of a turn."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from experiments.runs.steering import steering
from experiments.runs.steering.views import answer, steered_run, visible_run
from experiments.setup.form_fields import as_typed
from experiments.workflows.council.pages.rankings import ranking as counted

OFFERED = ("conclude", "deliberate", "end")


@login_required
@require_POST
def ask_further(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The next question; or, by the buttons beside it, a member asked again, a count or a conclusion done again."""
    run, key = steered_run(request, pk), request.POST.get("key", "")
    by, action = person(request), request.POST.get("action", "")
    if seat := request.POST.get("retry"):
        steering.say(run, by=by, key=key, action="retry_seat", text=seat)
    elif action in OFFERED:
        steering.say(run, by=by, key=key, action=action)
    else:
        steering.ask_further(run, by=by, text=as_typed(request.POST.get("text", "")))
    return answer(request, run)


@for_readers
@require_GET
def ranking(request: HttpRequest, pk: UUID, turn: int) -> HttpResponse:
    """The latest count of a turn, or the one of `?count=`, as a page; for a script (`?part=1`) the figures alone."""
    run = visible_run(request, pk)
    found = [step.data for step in run.steps.filter(purpose="ballots_counted", turn=turn).order_by("id")]
    number = request.GET.get("count", "")
    named = [data for data in found if str(data["count"]) == number] if number else found[-1:]
    if not named:
        raise Http404
    context = {"run": run, "ranking": counted(named[-1]), "cast": run.experiment.labels}
    page = "workflows/council/_ranking.html" if request.GET.get("part") else "workflows/council/ranking.html"
    return render(request, page, context)


urlpatterns = [
    path("runs/<uuid:pk>/ask/", ask_further, name="run-ask"),
    path("runs/<uuid:pk>/ranking/<int:turn>/", ranking, name="run-ranking"),
]
