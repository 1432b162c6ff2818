"""The page of the work: an item is read, answered, passed over, given back."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.errors import Invalid, Refusal, TooLarge
from accounts.people import person
from accounts.refusing import back_to, status_of, wants_json
from experiments.models import ReviewItem, Run
from experiments.review import answers, progress, reading, rubrics, showing, slots
from experiments.review.views import to_next

KEPT_OUT = ("csrfmiddlewaretoken", "deed")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What is to be reviewed, with the form; a POST sends the answer."""
    shown = visible_item(request, pk)
    return _submit(request, shown) if request.method == "POST" else _page(request, shown)


@login_required
@require_POST
def claim(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Hold the item, or hold it longer: what the page asks for when it is opened, and while somebody works on it."""
    shown = visible_item(request, pk)
    back_to(request, shown)
    slots.claim(shown, by=person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if wants_json(request) else redirect(shown)


@login_required
@require_POST
def release(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give it back. What was filled in is kept, as far as it was sent along."""
    shown = visible_item(request, pk)
    _keep(request, shown)
    slots.release(shown, by=person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if wants_json(request) else redirect(shown.queue)


@login_required
@require_POST
def draft(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep what is filled in so far."""
    if not _keep(request, visible_item(request, pk)):
        raise TooLarge(_("This is too much to be kept as a draft. Send it, or shorten it."))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@login_required
@require_POST
def skip(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_item(request, pk)
    back_to(request, shown)
    slots.skip(shown, by=person(request), reason=request.POST.get("reason", ""))
    return to_next(request, shown.queue)


@login_required
@require_POST
def reveal(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = visible_item(request, pk)
    slots.reveal(shown, by=person(request))
    return redirect(shown)


def visible_item(request: HttpRequest, pk: UUID) -> ReviewItem:
    rows = ReviewItem.objects.visible_to(request.user)
    return get_object_or_404(rows.select_related("queue__rubric", "run__experiment", "message", "judgment"), pk=pk)


def _submit(request: HttpRequest, shown: ReviewItem) -> HttpResponse:
    fields = _fields(request)
    content = reading.read(fields, rubrics.of(shown.queue.rubric))
    try:
        answers.submit(shown, content, by=person(request))
    except Refusal as error:
        errors = error.errors if isinstance(error, Invalid) else {"answer": [str(error)]}
        return _page(request, shown, fields=fields, errors=errors, status=status_of(error))
    messages.success(request, _("Your answer to item %(number)s is saved.") % {"number": shown.number})
    return to_next(request, shown.queue) if request.POST.get("deed") != "stay" else redirect(shown)


def _page(
    request: HttpRequest,
    shown: ReviewItem,
    *,
    fields: Mapping[str, list[str]] | None = None,
    errors: Mapping[str, list[str]] | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    user = person(request)
    page = showing.page_of(shown, user, fields=fields, errors=errors)
    context: dict[str, Any] = {
        "page": page,
        "item": shown,
        "queue": shown.queue,
        "progress": progress.of(shown.queue, user),
        "has_draft": bool(answers.draft_of(shown, user)),
        "sees_run": not page.hides and Run.objects.visible_to(user).filter(pk=shown.run_id).exists(),
        "given": answers.given_to(shown) if answers.may_look_behind(shown, user) else [],
    }
    return render(request, "review/item.html", context, status=status)


def _keep(request: HttpRequest, shown: ReviewItem) -> bool:
    fields = {name: values for name, values in _fields(request).items() if any(values)}
    return answers.keep_draft(shown, fields, by=person(request)) if fields else True


def _fields(request: HttpRequest) -> dict[str, list[str]]:
    return {name: list(values) for name, values in request.POST.lists() if name not in KEPT_OUT}
