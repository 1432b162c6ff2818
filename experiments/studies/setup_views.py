"""The pages on which a study is set up: its design, on the set-up page of the workflow, and its plan."""

from functools import partial
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import Invalid
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.models import Study
from experiments.runs.reports import json_values
from experiments.setup import presets
from experiments.setup.estimates import first_complaint
from experiments.studies import checking, design_form, importing, plan_form, services
from experiments.studies.design import Design
from experiments.studies.design_form import StudyForm, designed_workflows, study_form
from experiments.studies.plan import Plan
from experiments.studies.plan_form import PlanForm
from experiments.workflows import surface_of


@login_required
@require_GET
def choose(request: HttpRequest) -> HttpResponse:
    """Which workflow the runs of a new study are of."""
    surfaces = [(slug, surface_of(slug)) for slug in designed_workflows()]
    return render(request, "studies/new.html", {"surfaces": surfaces})


@login_required
@require_POST
def import_batch(request: HttpRequest) -> HttpResponse:
    """A stored batch of the original research becomes a study."""
    back_to(request, "study-new")
    sent = request.FILES.get("file")
    if not isinstance(sent, UploadedFile) or (sent.size or 0) > json_values.MOST_BYTES:
        raise Invalid(file=_("Choose a file of at most %(most)s MiB.") % {"most": json_values.MOST_BYTES >> 20})
    study, is_new = importing.store_batch(json_values.parse(sent.read()), name=sent.name or "", by=person(request))
    messages.success(request, _("The study is imported.") if is_new else _("This study was imported before."))
    return redirect(study)


@login_required
def new(request: HttpRequest, workflow: str) -> HttpResponse:
    """A design, on the set-up page of the workflow."""
    make = _form_of(workflow)
    if request.method != "POST":
        initial = {**presets.initial(request, workflow), "mode": "automatic"}
        return _design_page(request, make(initial=initial, reader=person(request)))
    form = make(request.POST, request.FILES, reader=person(request))
    if form.is_valid():
        with ShownIn(form):
            made = services.create(
                owner=person(request),
                title=form.cleaned_data["title"],
                design=form.design(),
                project=request.POST.get("project", ""),
                **_settings(form),
            )
            return redirect("study-plan", pk=made.pk)
    return _design_page(request, form)


@login_required
def design(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The design of a study whose plan is not locked yet."""
    study = _own(request, pk)
    if not design_form.can_be_shown(study):
        messages.info(request, _("This design has levels that change several settings. Change it by the API."))
        return redirect(study)
    make = _form_of(study.design["workflow"])
    if request.method != "POST":
        form = make(initial=design_form.values_of(study), reader=person(request))
        return _design_page(request, form, study)
    form = make(request.POST, request.FILES, reader=person(request))
    if form.is_valid():
        with ShownIn(form):
            changes = {"title": form.cleaned_data["title"], "design": form.design(), **_settings(form)}
            services.revise(study, by=person(request), **changes)
            messages.success(request, _("The design is saved."))
            return redirect(study)
    return _design_page(request, form, study)


@login_required
@require_POST
def estimate(request: HttpRequest, workflow: str) -> HttpResponse:
    """What the design would come to as it is filled in now."""
    form = _form_of(workflow)(request.POST, reader=person(request))
    form.fields["title"].required = False
    return render(request, "studies/_estimate.html", estimated(form))


@login_required
def plan(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Outcomes and contrasts; once the plan is locked, an amendment of it."""
    study = _own(request, pk)
    designed, locked = Design.model_validate(study.design), study.newest_plan
    content = locked.content if locked else study.plan
    stored = Plan.model_validate(content) if content else None
    if stored and not plan_form.can_be_shown(stored):
        messages.info(request, _("This plan has contrasts of several factors. Change it by the API."))
        return redirect(study)
    make = partial(PlanForm, design=designed, reader=person(request), is_locked=locked is not None)
    if request.method != "POST":
        measures = plan_form.measures(designed, reader=person(request))
        form = make(initial=plan_form.values_of(stored) if stored else plan_form.suggested(designed, measures))
    elif (form := make(request.POST)).is_valid():
        with ShownIn(form):
            if locked:
                services.amend(study, by=person(request), plan=form.plan(), reason=form.cleaned_data["reason"])
                messages.success(request, _("The amendment is saved. New contrasts are exploratory."))
            else:
                services.revise(study, by=person(request), plan=form.plan())
                messages.success(request, _("The plan is saved. Lock it to start the study."))
            return redirect(study)
    return render(
        request, "studies/plan.html", {"study": study, "form": form, "locked": locked}, status=status_of(form)
    )


def estimated(form: StudyForm) -> dict[str, object]:
    """Conditions, runs and amounts; `missing` says why there are none."""
    try:
        if not form.is_valid():
            raise Invalid({"form": [first_complaint(form)]})
        checked = checking.checked_design(form.design(), owner=form.reader)
        at_once = form.cleaned_data.get("at_once") or 10
        found = checking.estimated(checked, by=form.reader, at_once=at_once)
    except Invalid as error:
        return {"missing": str(error)}
    count = len(checked.conditions)
    return {"conditions": count, "runs": count * checked.design.repeats, **found._asdict()}


def _own(request: HttpRequest, pk: UUID) -> Study:
    """One that the person may change. Raises Http404 and Forbidden."""
    study = get_object_or_404(Study.objects.visible_to(request.user), pk=pk)
    services.require_change(study, person(request))
    return study


def _form_of(workflow: str) -> type[StudyForm]:
    if workflow not in designed_workflows():
        raise Http404
    return study_form(workflow)


def _settings(form: forms.Form) -> dict[str, Any]:
    return {"at_once": form.cleaned_data["at_once"] or 10, "cost_limit": form.cleaned_data["cost_limit"]}


def _design_page(request: HttpRequest, form: StudyForm, study: Study | None = None) -> HttpResponse:
    context = {
        "form": form,
        "setup": form.page,
        "study": study,
        "address": reverse("study-design", args=[study.pk])
        if study
        else reverse("study-design-new", args=[form.workflow]),
        "estimate_address": reverse("study-estimate", args=[form.workflow]),
        "surface": surface_of(form.workflow),
        **estimated(cast(StudyForm, form.filled())),
        **(form.page.context(request) if form.page.context else {}),
    }
    return render(request, "studies/design.html", context, status=status_of(form))
