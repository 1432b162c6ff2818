"""The pages of studies: those there are, and one with its conditions, its plan and its results."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from accounts.attachments import streamed, to_be_saved
from accounts.errors import Invalid
from accounts.models import Project
from accounts.people import person
from accounts.refusing import ShownIn, back_to
from experiments.models import Run, Study
from experiments.runs import run_list
from experiments.runs.upstreams import upstreams_of_study
from experiments.studies import charts, comparison, curves, pages, results, running, services
from experiments.studies.checking import planned_sizes
from experiments.studies.design import Design
from experiments.studies.folder import folder
from experiments.studies.plan import Plan
from experiments.studies.sizes import Asked, kinds_of
from leaderboard.ratings.studies import table
from leaderboard.ratings.studies.analysis import Plan as Analyzed

PER_PAGE = 50


class SizesForm(forms.Form):
    """What is left out is as `sizes.Asked` has it."""

    rate = forms.FloatField(required=False, min_value=0, max_value=100)
    difference = forms.FloatField(required=False, min_value=1, max_value=100)
    sd = forms.FloatField(required=False, min_value=0.01, max_value=10)
    spread = forms.FloatField(required=False, min_value=0, max_value=5)

    def asked(self) -> Asked:
        given = {name: value for name, value in self.cleaned_data.items() if value is not None}
        return Asked(**given | {name: given[name] / 100 for name in ("rate", "difference") if name in given})


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
    rows = Study.objects.visible_to(request.user).select_related("owner").with_counts().order_by("-created", "-id")
    return render(request, "studies/index.html", {"page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))})


@login_required
@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """Two to six studies beside each other, by one of the outcomes that they share."""
    back_to(request, "studies")
    chosen = comparison.chosen(request.user, request.GET.getlist("study"))
    found = comparison.of(chosen, request.user, request.GET.get("outcome", ""))
    forests = [pages.forest(one) for one in found.contrasts]
    return render(request, "studies/compare.html", {"found": found, "forests": forests})


@login_required
@require_GET
def runs_chart(request: HttpRequest) -> HttpResponse:
    """A figure of the runs that the list shows with the same filters."""
    chosen = run_list.chosen(request.GET, person(request))
    measure, group = (request.GET.get(name, "") for name in ("measure", "group"))
    rows = run_list.fitting(chosen, person(request))
    found = charts.chart(rows, measure=measure, by=group, reader=person(request))
    chips = run_list.chips(chosen, Project.objects.visible_to(request.user))
    kept = {name: value for name, value in asdict(chosen).items() if value and name != "sort"}
    return render(request, "experiments/chart.html", {"chart": found, "chips": chips, "kept": kept})


@login_required
@require_GET
def study(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What htmx asks for is the part that changes while runs end."""
    rows = Study.objects.visible_to(request.user).select_related("owner", "project")
    shown = get_object_or_404(rows.annotate(spent_so_far=running.spent_on(pk)), pk=pk)
    design = Design.model_validate(shown.design)
    context: dict[str, Any] = {
        "study": shown,
        "grid": pages.grid(shown, design),
        "progress": pages.progress(shown),
        "upstreams": upstreams_of_study(shown),
        "may_change": Study.objects.changeable_by(request.user).filter(pk=pk).exists(),
    }
    if "HX-Request" in request.headers:
        return render(request, "studies/_live.html", context)
    looks = list(shown.looks.select_related("plan", "by").defer("data", "labels").order_by("-number"))
    context |= {
        "design": design,
        "plans": shown.plans.select_related("by"),
        "plan": shown.newest_plan.content if shown.newest_plan else shown.plan,
        "kinds": kinds_of(Plan.model_validate(shown.plan)) if shown.plan else [],
        "looks": looks,
        "results": pages.shown(looks[0]) if looks else [],
        "curves": curves.drawn(looks[0]) if looks else [],
    }
    return render(request, "studies/study.html", context)


@login_required
@require_GET
def sizes(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What more or fewer repeats could see, with their costs; of a draft with a plan."""
    shown = get_object_or_404(Study.objects.visible_to(request.user).select_related("owner"), pk=pk)
    form = SizesForm(request.GET)
    context: dict[str, Any] = {"study": shown, "form": form}
    if form.is_valid():
        with ShownIn(form):
            context["found"] = planned_sizes(shown, form.asked(), by=person(request))
            context["repeats"] = shown.design["repeats"]
    return render(request, "studies/_sizes.html", context)


@login_required
@require_GET
def study_runs(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Planned runs with what the latest look saw of them; of one side of a contrast, or those that failed."""
    shown = get_object_or_404(Study.objects.visible_to(request.user), pk=pk)
    planned = shown.planned_runs.select_related("condition", "run").order_by("number")
    look = shown.looks.order_by("-number").first()
    asked = {name: request.GET.get(name, "") for name in ("contrast", "side", "reason", "missing", "condition")}
    plan = Analyzed.read(look.analyzed) if look else None
    seen = {row.run: row for row in table.read(plan, look.data)} if look and plan else {}
    outcomes = [outcome.name for outcome in plan.outcomes] if plan else []
    if plan and (
        contrast := next((one for one in (*plan.contrasts, *plan.explored) if one.name == asked["contrast"]), None)
    ):
        levels = contrast.first if asked["side"] == "first" else contrast.second
        conditions = [one.pk for one in shown.conditions.all() if levels.items() <= one.levels.items()]
        planned, outcomes = planned.filter(condition__in=conditions), [contrast.outcome]
        if asked["missing"]:
            lacking = [key for key, row in seen.items() if row.values[contrast.outcome] is None]
            planned = planned.filter(
                Q(run__in=[key for key in lacking if not key.startswith("planned-")]) | Q(run=None)
            )
    if asked["condition"].isdigit():
        planned = planned.filter(condition__number=int(asked["condition"]))
    if asked["reason"]:
        planned = planned.filter(run__state=Run.State.FAILED, run__stop_reason=asked["reason"])
    page = Paginator(planned, PER_PAGE).get_page(request.GET.get("page"))
    rows = [
        (one, pages.cells(seen.get(str(one.run_id or f"planned-{one.number}")), outcomes)) for one in page.object_list
    ]
    return render(
        request,
        "studies/runs.html",
        {"study": shown, "page": page, "rows": rows, "outcomes": outcomes, "asked": asked},
    )


@login_required
@require_POST
def add_repeats(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(Study.objects.visible_to(request.user), pk=pk)
    back_to(request, "study", pk=pk)
    try:
        repeats = int(request.POST.get("repeats", ""))
    except ValueError as error:
        raise Invalid(repeats=str(_("Enter a number."))) from error
    services.add_repeats(shown, by=person(request), repeats=repeats)
    messages.success(request, _("The repeats are planned."))
    return redirect("study", pk=pk)


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
