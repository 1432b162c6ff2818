"""The page of the work: an item is read, answered, passed over, given back."""

from http import HTTPStatus
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
from experiments.review import answer_form, answers, rubrics, slots
from experiments.review.item_page import ItemPage
from experiments.review.views import to_next

NOT_OF_THE_ANSWER = ("csrfmiddlewaretoken", "deed")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What is to be reviewed, with the form; a POST sends the answer. What was refused is still in the form."""
    shown, user = get_object_or_404(slots.visible_items(request.user), pk=pk), person(request)
    fields, errors, status = None, None, int(HTTPStatus.OK)
    if request.method == "POST":
        fields = _fields(request)
        try:
            answers.submit(shown, answer_form.read(fields, rubrics.of(shown.queue.rubric)), by=user)
        except Refusal as error:
            errors = error.errors if isinstance(error, Invalid) else {"answer": [str(error)]}
            status = status_of(error)
        else:
            messages.success(request, _("Your answer to item %(number)s is saved.") % {"number": shown.number})
            return redirect(shown) if request.POST.get("deed") == "stay" else to_next(request, shown.queue)
    page = ItemPage(shown, user, fields=fields, errors=errors)
    context = {
        "page": page,
        "item": shown,
        "queue": shown.queue,
        "progress": slots.progress(shown.queue, user),
        "has_draft": bool(answers.draft_of(shown, user)),
        "sees_run": not page.hides and Run.objects.visible_to(user).filter(pk=shown.run_id).exists(),
        "given": answers.given_to(shown) if answers.may_look_behind(shown, user) else [],
    }
    return render(request, "review/item.html", context, status=status)


@login_required
@require_POST
def claim(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Hold the item, or hold it longer: what the page asks for when it is opened, and while somebody works on it."""
    shown = get_object_or_404(slots.visible_items(request.user), pk=pk)
    back_to(request, shown)
    slots.claim(shown, by=person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if wants_json(request) else redirect(shown)


@login_required
@require_POST
def release(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Release a claimed item. What was filled in is kept, as far as it was sent along."""
    shown = get_object_or_404(slots.visible_items(request.user), pk=pk)
    _keep(request, shown)
    slots.release(shown, by=person(request))
    return HttpResponse(status=HTTPStatus.NO_CONTENT) if wants_json(request) else redirect(shown.queue)


@login_required
@require_POST
def draft(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keep what is filled in so far."""
    if not _keep(request, get_object_or_404(slots.visible_items(request.user), pk=pk)):
        raise TooLarge(_("This is too long for a draft. Send it, or shorten it."))
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@login_required
@require_POST
def skip(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(slots.visible_items(request.user), pk=pk)
    back_to(request, shown)
    slots.skip(shown, by=person(request), reason=request.POST.get("reason", ""))
    return to_next(request, shown.queue)


@login_required
@require_POST
def reveal(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = get_object_or_404(slots.visible_items(request.user), pk=pk)
    slots.reveal(shown, by=person(request))
    return redirect(shown)


def _keep(request: HttpRequest, shown: ReviewItem) -> bool:
    fields = {name: values for name, values in _fields(request).items() if any(values)}
    return answers.keep_draft(shown, fields, by=person(request)) if fields else True


def _fields(request: HttpRequest) -> dict[str, list[str]]:
    return {name: list(values) for name, values in request.POST.lists() if name not in NOT_OF_THE_ANSWER}
