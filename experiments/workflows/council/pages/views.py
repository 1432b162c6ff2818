"""The council's pages beside its run's: asking on, and the count of a turn."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from experiments.models import Run
from experiments.models.refusals import NotAllowed, NotOffered, Rivalled
from experiments.runs.steering import furthering, steering
from experiments.runs.steering.views import visible_run
from experiments.setup.line_ends import as_typed
from experiments.workflows.council.pages.rankings import ranking as counted

OFFERED = ("conclude", "deliberate", "end")


@login_required
@require_POST
def ask_further(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The next question; or, by the buttons beside it, a member asked again, a count or a conclusion done again."""
    run, key = visible_run(request, pk), request.POST.get("key", "")
    if seat := request.POST.get("retry"):
        return _done(request, run, lambda: _say(request, run, key, "retry_seat", seat))
    action = request.POST.get("action", "")
    if action in OFFERED:
        return _done(request, run, lambda: _say(request, run, key, action))
    text = as_typed(request.POST.get("text", ""))
    return _done(request, run, lambda: furthering.ask_further(run, by=person(request), text=text))


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


def _say(request: HttpRequest, run: Run, key: str, action: str, text: str = "") -> None:
    steering.say(run, by=person(request), key=key, action=action, text=text)


def _done(request: HttpRequest, run: Run, verb: Callable[[], Any]) -> HttpResponse:
    """For a script, JSON; for a plain form, back to the run, with a notice when it was refused."""
    problem, status = "", HTTPStatus.OK
    try:
        verb()
    except Rivalled as error:
        problem, status = str(error), HTTPStatus.CONFLICT
    except (NotOffered, NotAllowed) as error:
        problem, status = str(error), HTTPStatus.UNPROCESSABLE_ENTITY
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"problem": problem}, status=status)
    if problem:
        messages.warning(request, problem)
    response = redirect(run)
    response.status_code = HTTPStatus.SEE_OTHER
    return response
