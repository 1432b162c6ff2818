"""The page on which an arena experiment is set up."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from experiments.beginning import begin
from experiments.setup import estimates
from experiments.workflows.arena import WORKFLOW
from experiments.workflows.arena.pages import setup
from experiments.workflows.base.prompts import fill


@login_required
def arena(request: HttpRequest) -> HttpResponse:
    """Set up an arena experiment and start its runs."""
    form = setup.arena_form()(request.POST or None, initial=setup.initial(request))
    if begun := begin(request, form, WORKFLOW.slug, form.asked):
        return redirect(begun[0]) if len(begun) == 1 else redirect("experiment", pk=begun[0].experiment_id)
    context = {**estimates.context(request, form), "form": form, "think": fill("arena/think")}
    return render(request, "workflows/arena/setup.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def arena_estimate(request: HttpRequest) -> HttpResponse:
    """What the form would come to as it is filled in now."""
    return estimates.page(request, setup.arena_form()(request.POST))
