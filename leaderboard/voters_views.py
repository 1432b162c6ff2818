"""The voters of a dataset, for those who decide what counts: a report, and all votes of somebody left out."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.errors import Refusal
from accounts.people import person
from accounts.refusing import status_of
from experiments.models import Dataset
from experiments.workflows.battles.campaign import leaving_out, outliers, voiding
from leaderboard.models import Ladder
from leaderboard.ratings import outliers as bounds

ROWS = 50


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_voters(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who has voted, who is marked first. POST leaves all votes of one out, or takes them in (`restore`)."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    voiding.refuse_others(dataset, person(request))
    if request.method != "POST":
        return _shown(request, dataset)
    word, reason = request.POST.get("voter", ""), request.POST.get("reason", "")
    try:
        if "restore" in request.POST:
            n = leaving_out.restore(dataset, word, by=person(request))
            said = ngettext("%(n)s vote counts again.", "%(n)s votes count again.", n)
        else:
            n = leaving_out.leave_out(dataset, word, by=person(request), reason=reason)
            said = ngettext("%(n)s vote is left out.", "%(n)s votes are left out.", n)
    except Refusal as error:
        return _shown(request, dataset, str(error), status=status_of(error))
    messages.success(request, said % {"n": n} if n else _("There was nothing to change."))
    return redirect(request.get_full_path())


def _shown(request: HttpRequest, dataset: Dataset, problem: str = "", status: int = 200) -> HttpResponse:
    report = outliers.report(dataset, by=person(request))
    page = Paginator(report.lines, ROWS).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "dataset": dataset,
        "report": report,
        "page": page,
        "bounds": {**bounds.limits(), "pause_minutes": round(bounds.LONGEST_PAUSE / 60)},
        "ladder": Ladder.objects.filter(board__dataset=dataset, board__kind="people", withdrawn_reason="").first(),
        "problem": problem,
        "typed": request.POST if problem else {},
    }
    return render(request, "leaderboard/voters.html", context, status=status)
