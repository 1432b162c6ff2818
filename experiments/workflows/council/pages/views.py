"""The council's pages: asking one, its presets, what it may cost, asking on, and the count of a turn."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from experiments.beginning import begin
from experiments.casting import InvalidExperiment
from experiments.library import keeping
from experiments.line_ends import as_typed
from experiments.models import Preset, Run
from experiments.refusals import NotAllowed, NotOffered, Rivalled
from experiments.setup import estimates
from experiments.steering import furthering, steering
from experiments.steering.views import visible_run
from experiments.workflows.council.pages import listing as council_list
from experiments.workflows.council.pages import setup as council_setup
from experiments.workflows.council.pages.forms import CouncilForm, council_form
from experiments.workflows.council.pages.rankings import ranking as counted

OFFERED = ("conclude", "deliberate", "end")


@login_required
def council(request: HttpRequest) -> HttpResponse:
    """Ask a council; under it, those that were asked before. `load` fills in a preset and keeps what was typed."""
    if request.method == "POST" and "load" in request.POST:
        return _page(request, council_setup.with_preset(request, request.POST["load"]))
    form = council_form()(request.POST or None, initial=council_setup.initial(request))
    if runs := begin(request, form, "council", form.asked):
        return redirect(runs[0])
    return _page(request, form)


@login_required
@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return estimates.page(request, council_form()(request.POST))


@login_required
@require_POST
def presets(request: HttpRequest) -> HttpResponse:
    """Keep the council that the form shows under a name, or (`share`, `unshare`) show one of mine to the lab or not."""
    for word, shared in (("share", True), ("unshare", False)):
        if word in request.POST:
            keeping.share_preset(_my_preset(request, request.POST[word]), by=person(request), shared=shared)
            told = _("The lab sees this council now.") if shared else _("Only you see this council now.")
            messages.success(request, told)
            return _page(request, council_setup.as_typed(request))
    form = council_setup.as_typed(request)
    try:
        kept = keeping.save_council(
            owner=person(request),
            name=request.POST.get("preset_name", ""),
            content=council_setup.content_of(request),
            shared=bool(request.POST.get("preset_shared")),
        )
        messages.success(request, _("The council “%(name)s” is kept.") % {"name": kept.name})
    except (InvalidExperiment, NotAllowed) as error:
        messages.error(request, str(error))
    return _page(request, form)


@login_required
@require_POST
def preset_delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    keeping.delete_preset(_my_preset(request, str(pk)), by=person(request))
    messages.success(request, _("The preset is deleted. Councils that were asked with it stay as they are."))
    return _page(request, council_setup.as_typed(request))


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


def _page(request: HttpRequest, form: CouncilForm) -> HttpResponse:
    context = {
        "form": form,
        **estimates.context(request, form),
        "presets": council_setup.presets_for(request.user),
        **council_list.context(request),
    }
    return render(
        request, "workflows/council/setup.html", context, status=422 if form.is_bound and form.errors else 200
    )


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


def _my_preset(request: HttpRequest, pk: str) -> Preset:
    mine = Preset.objects.filter(owner_id=request.user.pk, workflow="council")
    id_ = council_setup.as_id(pk)
    if id_ is None:
        raise Http404
    return get_object_or_404(mine, pk=id_)
