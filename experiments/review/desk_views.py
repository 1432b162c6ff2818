"""The pages of the review desk: the list of runs, and one run with what a curator decides about it."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import User
from accounts.people import person
from accounts.refusing import back_to
from experiments.api.pagination import page_of
from experiments.models import Run
from experiments.review import curation, desk, flagging
from experiments.review.forms import DeskForm
from experiments.review.run_views import change_flag, decided_context, say_decided

RUNS_PER_PAGE = 25
ENDING = ("approve", "approve_and_publish", "exclude", "return")  # after which the next run is read


@login_required
@require_GET
def runs(request: HttpRequest) -> HttpResponse:
    """Runs that wait for a decision, those that were decided, and a search over them."""
    user = _curator(request)
    form = DeskForm({"show": desk.TO_APPROVE, **request.GET.dict()}, user=user)
    asked = form.cleaned_data if form.is_valid() else {"show": "all"}
    found = desk.asked_for(asked, user) if form.is_valid() else Run.objects.none()
    page = page_of(found, request.GET, RUNS_PER_PAGE)
    flagged = Count("messages", filter=~Q(messages__flags=[]))
    rows = Run.objects.select_related("experiment__owner", "experiment__project", "review").annotate(flagged=flagged)
    context = {
        "form": form,
        "show": asked["show"],
        "lists": desk.LISTS.items(),
        "counts": desk.counts(user),
        "page": page,
        "rows": page.rows(rows),
        "is_narrow": any(value for name, value in asked.items() if name != "show"),
    }
    return render(request, "review/desk.html", context)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def run(request: HttpRequest, pk: UUID) -> HttpResponse:
    """One run to be read, and decided about. Reading one that is not shared with the reader is recorded."""
    user = _curator(request)
    if request.method == "POST":
        return _decide(request, pk, user)
    rows = Run.objects.readable_at_desk(user).select_related("experiment__owner", "experiment__project")
    shown = get_object_or_404(rows, pk=pk)
    desk.note_reading(shown, by=user)
    messages_of_run = flagging.choosable(shown)
    may_decide = Run.objects.decidable_by(user).filter(pk=pk).exists()
    context = {
        **decided_context(shown),
        "may_decide": may_decide,
        "may_flag": may_decide and bool(messages_of_run),
        "messages_of_run": messages_of_run,
        "is_shared": Run.objects.visible_to(user).filter(pk=pk).exists(),
        "transcript": desk.transcript(shown, request.GET.get("page")),
        "seats": shown.experiment.participants.select_related("model"),
        "notes": desk.notes(shown, user),
        "following": desk.next_to_approve(shown, user),
    }
    return render(request, "review/desk_run.html", context)


def _decide(request: HttpRequest, pk: UUID, user: User) -> HttpResponse:
    rows = Run.objects.decidable_by(user).select_related("experiment__owner")
    decided, action = get_object_or_404(rows, pk=pk), request.POST.get("deed", "")
    back_to(request, "review-desk-run", pk)
    if "flag" in request.POST:
        change_flag(request, decided)
        return redirect("review-desk-run", pk)
    done = curation.act(action, decided, by=user, reason=request.POST.get("reason", ""))
    say_decided(request, _("Done."), done=done)
    following = desk.next_to_approve(decided, user) if action in ENDING else decided
    return redirect("review-desk-run", following.pk) if following else redirect("review-desk")


def _curator(request: HttpRequest) -> User:
    """404 for everybody else, as for other pages of a role."""
    if not curation.may_curate(request.user):
        raise Http404(_("There is nothing here."))
    return person(request)
