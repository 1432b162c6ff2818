"""The pages of studies: those there are, and one with its conditions, its plan and its results."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from accounts.attachments import streamed, to_be_saved
from accounts.people import person
from accounts.refusing import back_to
from experiments.models import LIVE_STATES, Study
from experiments.studies import pages, results, running, services
from experiments.studies.design import Design
from experiments.studies.folder import folder

PER_PAGE = 50
VERBS: Mapping[str, tuple[Callable[..., Any], Any]] = {
    "lock": (services.lock, _("The plan is locked.")),
    "start": (services.start, _("The study has started.")),
    "pause": (services.pause, _("No further run begins until you resume the study.")),
    "resume": (services.resume, _("The study goes on.")),
    "stop": (services.stop, _("The study is stopped.")),
    "look": (results.look, _("The results are below.")),
}


@login_required
@require_GET
def studies(request: HttpRequest) -> HttpResponse:
    begun = Q(planned_runs__run__isnull=False)
    ended = begun & ~Q(planned_runs__run__state__in=LIVE_STATES)
    rows = Study.objects.visible_to(request.user).select_related("owner")
    counted = rows.annotate(planned=Count("planned_runs"), ended_runs=Count("planned_runs", filter=ended))
    counted = counted.order_by("-created", "-id")
    return render(
        request, "studies/index.html", {"page": Paginator(counted, PER_PAGE).get_page(request.GET.get("page"))}
    )


@login_required
@require_GET
def study(request: HttpRequest, pk: UUID) -> HttpResponse:
    rows = Study.objects.visible_to(request.user).select_related("owner", "project")
    shown = get_object_or_404(rows.annotate(spent_so_far=running.spent_on(pk)), pk=pk)
    looks = list(shown.looks.select_related("plan", "by").order_by("-number"))
    design = Design.model_validate(shown.design)
    context = {
        "study": shown,
        "design": design,
        "conditions": pages.conditions(shown),
        "planned": shown.planned_runs.count(),
        "ended": results.ended_runs(shown),
        "plans": shown.plans.select_related("by"),
        "plan": shown.newest_plan.content if shown.newest_plan else shown.plan,
        "looks": looks,
        "results": pages.shown(looks[0]) if looks else [],
        "may_change": Study.objects.changeable_by(request.user).filter(pk=pk).exists(),
    }
    return render(request, "studies/study.html", context)


@login_required
@require_POST
def act(request: HttpRequest, pk: UUID, verb: str) -> HttpResponse:
    """Lock, start, pause, resume or stop a study, or look at its results."""
    shown = get_object_or_404(Study.objects.visible_to(request.user), pk=pk)
    if verb not in VERBS:
        raise Http404
    back_to(request, "study", pk=pk)
    do, said = VERBS[verb]
    if do(shown, by=person(request)):
        messages.success(request, said)
    return redirect("study", pk=pk)


@login_required
@require_GET
def study_folder(request: HttpRequest, pk: UUID) -> HttpResponseBase:
    """The latest look as a folder that recomputes."""
    shown = get_object_or_404(Study.objects.visible_to(request.user), pk=pk)
    look = shown.looks.order_by("-number").first()
    if look is None:
        raise Http404
    return to_be_saved(streamed(request, folder(look)), "application/zip", f"study-{shown.pk}.zip")
