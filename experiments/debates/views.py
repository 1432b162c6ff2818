"""The debate's pages: setting one up, what is kept of a text that is being written, and limits that are raised."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from accounts.people import person
from experiments.beginning import begin
from experiments.budgets import notes as budget_notes
from experiments.debates import setup as debate_setup
from experiments.debates.forms import DebateForm, debate_form
from experiments.line_ends import as_typed
from experiments.models import Run
from experiments.refusals import NotAllowed, NotOffered, Rivalled
from experiments.steering import furthering
from experiments.steering.views import visible_run

LIMITS = ("tokens", "seconds", "cost")


@login_required
def debate(request: HttpRequest) -> HttpResponse:
    """Set up a debate and start it; under it, the debates there have been."""
    form = debate_form()(request.POST or None, initial=debate_setup.initial(request))
    if runs := begin(request, form, "debate", form.asked):
        return redirect(runs[0])
    context = {
        "form": form,
        **_estimate(request, form),
        "token_limits": debate_setup.token_limits(),
        "history": debate_setup.history(request),
        "states": Run.State.choices,
    }
    return render(request, "workflows/debate.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return render(request, "debate/_estimate.html", _estimate(request, debate_form()(request.POST)))


def _estimate(request: HttpRequest, form: DebateForm) -> dict[str, Any]:
    guess = debate_setup.estimate_of(form)
    return {"estimate": guess, "budget_notes": budget_notes.beside(request, guess)}


@login_required
@require_POST
def draft(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep what is being written at a pause: 204; 409 when something was said there meanwhile."""
    run = visible_run(request, pk)
    try:
        furthering.draft(
            run, by=person(request), key=request.POST.get("key", ""), text=as_typed(request.POST.get("text", ""))
        )
    except Rivalled as error:
        return JsonResponse({"problem": str(error)}, status=HTTPStatus.CONFLICT)
    except NotOffered as error:
        return JsonResponse({"problem": str(error)}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@login_required
@require_POST
def lift(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Go on with a debate that a limit has stopped: with other limits, or without the answer that was too much."""
    run = visible_run(request, pk)
    given: dict[str, Any] = {name: request.POST.get(name, "").strip() or None for name in LIMITS}
    is_skip = request.POST.get("action") == "skip"
    try:
        furthering.lift(run, by=person(request), limits=given, skip=is_skip)
    except (Rivalled, NotOffered, NotAllowed) as error:
        messages.warning(request, str(error))
    return redirect(run)
