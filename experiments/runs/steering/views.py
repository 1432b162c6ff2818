"""What people do to a run on its page: answer a pause, pause it, change its mode, branch from it.

Each is a plain form. A script that asks for JSON gets its answer without leaving the page.
"""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import AlreadyAnswered, Invalid, Refusal
from accounts.people import for_readers, person
from accounts.refusing import back_to, see_other, status_of, wants_json
from experiments.models import Message, Run
from experiments.runs.steering import branching, steering
from experiments.setup.form_fields import as_typed, is_same, restored
from experiments.templatetags.arena import action_label
from experiments.workflows.base.events import Said
from experiments.workflows.base.limits import WORDS

EDITED = "send"


@login_required
@require_POST
def say(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Answer the pause that the page shows. A text that is the default, line ends aside, is the default."""
    run = steered_run(request, pk)
    key, action = request.POST.get("key", ""), request.POST.get("action", "")
    text = as_typed(request.POST.get(f"text-{action}", request.POST.get("text", "")))
    step = run.steps.filter(key=key, kind="listen").first()
    if action == EDITED and step:
        default = str(step.data["default"])
        if default and is_same(text, default) and "default" in step.data["actions"]:
            action, text = "default", ""
        else:
            text = restored(text, default)
    try:
        steering.say(run, by=person(request), key=key, action=action, text=text)
    except AlreadyAnswered as error:
        step = run.steps.filter(key=key).first()
        said = step.said if step else None
        problem = str(error)
        if said:
            words = _("%(by)s %(said)s here first. The run continues with that; nothing of yours was sent.")
            problem = words % {"by": said.by, "said": action_label(said.action)}
        return answer(request, run, problem, error.status, said)
    return answer(request, run)


@login_required
@require_POST
def pause(request: HttpRequest, pk: UUID) -> HttpResponse:
    run = steered_run(request, pk)
    is_done = steering.pause(run, by=person(request))
    return answer(request, run, "" if is_done else _("The run is already waiting, or has ended."))


@login_required
@require_POST
def mode(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Automatic or manual, from the next pause on."""
    run = steered_run(request, pk)
    steering.set_mode(run, by=person(request), mode=request.POST.get("mode", ""))
    return answer(request, run)


@login_required
@require_POST
def extend(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Move the last turn; an empty number is none."""
    run = steered_run(request, pk)
    asked = request.POST.get("max_turns", "").strip()
    if asked and not (asked.isdecimal() and len(asked) < 5):
        raise Invalid(max_turns=_("Max turns ranges from 1 to 100."))
    turns = int(asked) if asked and not request.POST.get("max_turns-none") else None
    steering.extend(run, by=person(request), max_turns=turns)
    return answer(request, run)


@login_required
@require_POST
def draft(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep what is being written at a pause: 204; 409 when something was said there meanwhile."""
    run = visible_run(request, pk)
    key, text = request.POST.get("key", ""), as_typed(request.POST.get("text", ""))
    steering.draft(run, by=person(request), key=key, text=text)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@login_required
@require_POST
def lift(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Go on with a run that a limit has stopped: with other limits, or without the answer that was too much."""
    run = steered_run(request, pk)
    given: dict[str, Any] = {name: request.POST.get(name, "").strip() or None for name in WORDS}
    is_skip = request.POST.get("action") == "skip"
    steering.lift(run, by=person(request), limits=given, skip=is_skip)
    return redirect(run)


@login_required
def branch(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A message in an editor; continuing from it makes a new run, and leaves this one as it is."""
    message = _visible_message(request, pk)
    text = request.POST.get("text", message.raw_text)
    context = {"message": message, "run": message.run, "text": text, "error": ""}
    status = 200
    if request.method == "POST":
        edited = None if is_same(text, message.raw_text) else restored(text, message.raw_text)
        try:
            return redirect(branching.branch(message, by=person(request), text=edited))
        except Refusal as refusal:
            context["error"], status = str(refusal), status_of(refusal)
    return render(request, "experiments/branch.html", context, status=status)


@for_readers
@require_GET
def message_text(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The words of a message as they are, for the clipboard; `?heard=1`: as the other side reads them."""
    message = _visible_message(request, pk)
    text = message.text if request.GET.get("heard") else message.raw_text
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def visible_run(request: HttpRequest, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment__owner"), pk=pk)


def steered_run(request: HttpRequest, pk: UUID) -> Run:
    """As `visible_run`; what is refused from here on is said on its page."""
    run = visible_run(request, pk)
    back_to(request, run)
    return run


def _visible_message(request: HttpRequest, pk: UUID) -> Message:
    rows = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
    return get_object_or_404(rows.select_related("run__experiment", "step", "call"), pk=pk)


def answer(
    request: HttpRequest, run: Run, problem: str = "", status: HTTPStatus = HTTPStatus.OK, said: Said | None = None
) -> HttpResponse:
    """For a script, JSON; for a plain form, back to the run, with a notice when something else was so already."""
    if wants_json(request):
        told = {"problem": problem, "said": said.data() if said else None, "by": said.by if said else ""}
        return JsonResponse(told, status=status)
    if problem:
        messages.warning(request, problem)
    return see_other(run)
