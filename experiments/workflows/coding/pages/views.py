"""The pages of coding: setting up a contest, what it may come to, and one of its cycles."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers
from experiments.beginning import begin
from experiments.models import Cycle
from experiments.setup import estimates
from experiments.steering.views import visible_run
from experiments.workflows.coding.pages import cycles, isolation, listing, setup, standing, voiding
from experiments.workflows.coding.pages.forms import ContestForm, contest_form


@login_required
def coding(request: HttpRequest) -> HttpResponse:
    """Set up a contest; under it, those that were started before. `everybody` seats all models that can take part."""
    if request.method == "POST" and "everybody" in request.POST:
        return _page(request, setup.with_everybody(request))
    form = contest_form()(request.POST or None, initial=setup.initial(request))
    if runs := begin(request, form, "coding", form.asked):
        return redirect(runs[0])
    return _page(request, form)


@login_required
@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return estimates.page(request, contest_form()(request.POST))


@for_readers
@require_GET
def cycle(request: HttpRequest, pk: UUID, turn: int) -> HttpResponse:
    """A cycle: its problem, what everybody made of it, and who judged it how."""
    rows = Cycle.objects.visible_to(request.user).select_related("run__experiment", "voided_by")
    shown = get_object_or_404(rows, run=pk, turn=turn)
    context = {**cycles.context(shown), "may_void": voiding.may_void(request.user)}
    return render(request, "workflows/coding/cycle.html", context)


@for_readers
@require_GET
def ratings(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the contest's own cycles say of its models, as a page; for a script (`?part=1`) the figures alone."""
    run = visible_run(request, pk)
    page = "workflows/coding/_standing.html" if request.GET.get("part") else "workflows/coding/ratings.html"
    return render(request, page, {"run": run, **standing.of_run(run)})


def _page(request: HttpRequest, form: ContestForm) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        **estimates.context(request, form),
        "sandbox": isolation.sandbox(),
        **listing.context(request),
    }
    return render(request, "workflows/coding/setup.html", context, status=422 if form.is_bound and form.errors else 200)
