"""The pages of queues: those that one reviews in or looks after, a new one, and what is done with one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.errors import Forbidden
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.models import ReviewQueue, ReviewSlot
from experiments.review import progress, queues, rubrics, slots
from experiments.review.forms import QueueChange, QueueForm, names_in

ITEMS_PER_PAGE = 50


@login_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """The queues in which the person reviews, and those that they look after."""
    user = person(request)
    seen = ReviewQueue.objects.visible_to(user).select_related("project", "owner", "rubric")
    mine = set(ReviewQueue.objects.assigned_to(user).values_list("pk", flat=True))
    managed = set(ReviewQueue.objects.manageable_by(user).values_list("pk", flat=True))
    rows = list(seen.annotate(places=Count("items__slots"), done=Count("items__slots__answer"))[:200])
    context = {
        "assigned": [_card(one, user) for one in rows if one.pk in mine and one.is_open],
        "managed": [one for one in rows if one.pk in managed],
        "closed": [one for one in rows if one.pk in mine - managed and not one.is_open],
        "may_make": _may_make(request),
    }
    return render(request, "review/index.html", context)


@login_required
def queue_new(request: HttpRequest) -> HttpResponse:
    """Make a queue, which is filled at once."""
    if not _may_make(request):
        raise Forbidden(_("Queues are made by curators, by those who lead a project, and by people with runs."))
    rubrics.ensure_builtin()
    form = QueueForm(request.POST or None, user=person(request), initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            made = form.make(by=person(request))
            _say_filled(request, made.items.count())
            return redirect(made)
    return render(request, "review/queue_form.html", {"form": form}, status=status_of(form))


@login_required
@require_GET
def queue(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far a queue is, and the way into it. Who looks after it sees its items and who passed what over."""
    shown = _visible(request, pk)
    user = person(request)
    is_manager = ReviewQueue.objects.manageable_by(user).filter(pk=shown.pk).exists()
    context: dict[str, Any] = {
        "queue": shown,
        "rubric_title": rubrics.title_of(shown.rubric),
        "progress": progress.of(shown, user),
        "is_manager": is_manager,
        "is_assigned": ReviewQueue.objects.assigned_to(user).filter(pk=shown.pk).exists(),
        "members": list(shown.members.select_related("user")),
        "mine": _mine(shown, user),
    }
    if is_manager:
        rows = shown.items.annotate(done=Count("slots__answer", distinct=True), skipped=Count("skips", distinct=True))
        context["page"] = Paginator(rows.order_by("number"), ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "review/queue.html", context)


@login_required
def queue_change(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Name, reviewers, minutes and instructions: what can be changed without touching an answer."""
    shown = get_object_or_404(ReviewQueue.objects.manageable_by(request.user), pk=pk)
    names = ", ".join(one.user.username for one in shown.members.select_related("user"))
    known = {"name": shown.name, "instructions": shown.instructions, "lock_minutes": shown.lock_minutes}
    form = QueueChange(request.POST or None, initial={**known, "members": names})
    if request.method == "POST" and form.is_valid():
        fields = dict(form.cleaned_data)
        with ShownIn(form):
            members = names_in(fields.pop("members"))
            queues.people_of(members)  # nothing is changed by half
            queues.change(shown, by=person(request), **fields)
            queues.assign(shown, by=person(request), members=members)
            messages.success(request, _("The queue is changed."))
            return redirect(shown)
    return render(request, "review/queue_change.html", {"form": form, "queue": shown}, status=status_of(form))


@login_required
@require_POST
def queue_fill(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible(request, pk)
    _say_filled(request, queues.fill(shown, by=person(request)))
    return redirect(shown)


@login_required
@require_POST
def queue_state(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown, is_open = _visible(request, pk), request.POST.get("open") == "1"
    queues.set_open(shown, by=person(request), is_open=is_open)
    messages.success(request, _("The queue is open.") if is_open else _("The queue is closed. Its answers stay."))
    return redirect(shown)


@login_required
@require_POST
def queue_next(request: HttpRequest, pk: UUID) -> HttpResponse:
    return to_next(request, _visible(request, pk))


@login_required
@require_POST
def queue_undo(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Take back the last answer, and go to its item."""
    shown = _visible(request, pk)
    back_to(request, shown)
    item = slots.undo(shown, by=person(request))
    if item is None:
        messages.info(request, _("You have sent nothing here that could be taken back."))
        return redirect(shown)
    messages.success(request, _("Your last answer is taken back: send it again when it is as you want it."))
    return redirect(item)


def to_next(request: HttpRequest, shown: ReviewQueue) -> HttpResponse:
    """The item that comes next for the person; the queue's page when nothing is left."""
    item = slots.next_item(shown, by=person(request))
    if item is None:
        messages.success(request, _("Nothing is left for you in this queue. Thank you."))
        return redirect(shown)
    return redirect(item)


def _visible(request: HttpRequest, pk: UUID) -> ReviewQueue:
    rows = ReviewQueue.objects.visible_to(request.user).select_related("rubric", "project", "owner")
    return get_object_or_404(rows, pk=pk)


def _may_make(request: HttpRequest) -> bool:
    user = person(request)
    return user.may_experiment or queues.may_make_for_lab(user) or bool(queues.projects_for(user))


def _card(shown: Any, user: Any) -> dict[str, Any]:
    return {"queue": shown, "progress": progress.of(shown, user)}


def _mine(shown: ReviewQueue, user: Any) -> list[ReviewSlot]:
    """The person's latest answers, which can be looked at and corrected."""
    rows = ReviewSlot.objects.answered().filter(Q(holder=user), item__queue=shown)
    return list(rows.select_related("item").order_by(F("answered").desc())[:20])


def _say_filled(request: HttpRequest, count: int) -> None:
    if count:
        said = ngettext("%(n)s item is new.", "%(n)s items are new.", count) % {"n": count}
        messages.success(request, said)
    else:
        messages.info(request, _("Nothing new fits the filters of this queue."))
