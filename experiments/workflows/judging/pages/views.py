"""The page on which a transcript is given to another judge."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.people import person
from accounts.refusing import ShownIn, status_of
from experiments.runs.steering.views import visible_run
from experiments.workflows.judging import services
from experiments.workflows.judging.pages.forms import JudgeAgainForm


@login_required
def judge_again(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The transcript scored again, by another judge or by other rules; the first scores are kept."""
    run = visible_run(request, pk)
    form = JudgeAgainForm(request.POST or None, run=run)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            return redirect(services.judge_again(run, by=person(request), **form.asked()))
    context = {"run": run, "form": form}
    return render(request, "experiments/judge_again.html", context, status=status_of(form))
