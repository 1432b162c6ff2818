"""The pages of queues: those that one reviews in or looks after, a new one, what is done with one, its agreement."""

import csv
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from accounts.csv_cells import cell
from accounts.people import person
from accounts.refusing import ShownIn, back_to, status_of
from experiments.models import ReviewQueue, ReviewSlot
from experiments.review import agreement, curation, desk, queues, rubrics, slots
from experiments.review.coefficients import FEW, Figure
from experiments.review.forms import QueueChange, QueueForm
from leaderboard.ratings.values import Undefined

ITEMS_PER_PAGE = 50
LATEST = 20  # answers of one's own
COLUMNS = (  # of the file of agreement
    *("measure", "level", "statistic", "first", "second", "items", "value", "low", "high", "undefined"),
    *("mean_first", "mean_second"),
)


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
        "assigned": [
            {"queue": one, "progress": slots.progress(one, user)} for one in rows if one.pk in mine and one.is_open
        ],
        "managed": [one for one in rows if one.pk in managed],
        "closed": [one for one in rows if one.pk in mine - managed and not one.is_open],
        "may_make": queues.may_make(user),
        "waiting": desk.counts(user) if curation.may_curate(user) else None,
    }
    return render(request, "review/index.html", context)


@login_required
def queue_new(request: HttpRequest) -> HttpResponse:
    """Create a queue and fill it."""
    user = person(request)
    queues.require_making(user)
    form = QueueForm(request.POST or None, user=user, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            made = form.make(by=user)
            _say_filled(request, made.items.count())
            return redirect(made)
    return render(request, "review/queue_form.html", {"form": form}, status=status_of(form))


@login_required
@require_GET
def queue(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far a queue is, and the way into it. Who looks after it sees its items and who passed what over."""
    shown, user = _visible(request, pk), person(request)
    answered = ReviewSlot.objects.answered().filter(holder=user, item__queue=shown).select_related("item")
    context: dict[str, Any] = {
        "queue": shown,
        "rubric_title": rubrics.words_of(shown.rubric)[0],
        "progress": slots.progress(shown, user),
        "is_manager": queues.is_manager(shown, user),
        "is_assigned": ReviewQueue.objects.assigned_to(user).filter(pk=shown.pk).exists(),
        "members": list(shown.members.select_related("user")),
        "mine": list(answered.order_by("-answered")[:LATEST]),
    }
    if context["is_assigned"] and not context["progress"].left:
        context["other_queue"] = slots.other_queue(shown, user)
    if context["is_manager"]:
        rows = shown.items.annotate(done=Count("slots__answer", distinct=True), skipped=Count("skips", distinct=True))
        context["page"] = Paginator(rows.order_by("number"), ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "review/queue.html", context)


@login_required
def queue_change(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Name, reviewers, minutes and instructions: what can be changed without touching an answer."""
    shown = get_object_or_404(ReviewQueue.objects.manageable_by(request.user), pk=pk)
    names = [one.user.username for one in shown.members.select_related("user")]
    form = QueueChange(request.POST or None, initial={**model_to_dict(shown), "members": names})
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            members = [one.username for one in form.cleaned_data["members"]]
            queues.change(shown, by=person(request), **{**form.cleaned_data, "members": members})
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
        messages.info(request, _("There is nothing to take back here."))
        return redirect(shown)
    messages.success(request, _("Your last answer is taken back. Send it again when it is ready."))
    return redirect(item)


def to_next(request: HttpRequest, shown: ReviewQueue) -> HttpResponse:
    """The item that comes next for the person; the queue's page when nothing is left."""
    item = slots.next_item(shown, by=person(request))
    if item is None:
        messages.success(request, _("No items are left for you in this queue. Thank you."))
        return redirect(shown)
    return redirect(item)


@login_required
@require_GET
def agreement_page(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = agreement.readable_queue(request.user, pk)
    context = {
        "queue": shown,
        "report": agreement.of(shown),
        "is_manager": queues.is_manager(shown, request.user),
        "few": FEW,
        "rubric_title": rubrics.words_of(shown.rubric)[0],
    }
    return render(request, "review/agreement.html", context)


@login_required
@require_GET
def agreement_csv(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = agreement.readable_queue(request.user, pk)
    answer = HttpResponse(content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="agreement-{shown.pk}.csv"'
    writer = csv.DictWriter(answer, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(_csv_rows(agreement.of(shown)))
    return answer


def _csv_rows(report: agreement.Report) -> Iterator[dict[str, object]]:
    """One line for each figure. What does not exist has its reason in place of a value."""
    for one in report.measures:
        about = {"measure": one.name, "level": one.level}
        yield {**about, "statistic": "krippendorff_alpha", "items": one.items, **_cells(one.alpha)}
        yield {**about, "statistic": "fleiss_kappa", "items": one.items, **_cells(one.fleiss)}
        for pair in one.pairs:
            names = {"first": cell(pair.first), "second": cell(pair.second), "items": pair.items}
            yield {**about, "statistic": "cohen_kappa", **names, **_cells(pair.kappa)}
        if judge := one.judge:
            means = {"mean_first": judge.judge, "mean_second": judge.people}
            names = {"first": "judge", "second": "people", "items": judge.items}
            yield {**about, "statistic": "judge_alpha", **names, **means, **_cells(judge.alpha)}


def _cells(figure: Figure) -> dict[str, Any]:
    value, around = figure.value, figure.interval
    if isinstance(value, Undefined):
        return {"undefined": value.reason.value}
    return {"value": value, **({} if isinstance(around, Undefined) else {"low": around.low, "high": around.high})}


def _visible(request: HttpRequest, pk: UUID) -> ReviewQueue:
    rows = ReviewQueue.objects.visible_to(request.user).select_related(
        "rubric", "project", "owner", "version__instrument"
    )
    return get_object_or_404(rows, pk=pk)


def _say_filled(request: HttpRequest, count: int) -> None:
    if count:
        said = ngettext("%(n)s item is new.", "%(n)s items are new.", count) % {"n": count}
        messages.success(request, said)
    else:
        messages.info(request, _("Nothing new matches the filters of this queue."))
