"""The page on which a person answers for their seat; an invitation link opens it without an account."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import audit
from accounts.errors import Refusal
from accounts.people import person
from experiments.api.serializers import ParticipantSerializer
from experiments.models import Message, SeatedPerson
from experiments.models.labels import role_name
from experiments.models.seats import SEATED
from experiments.runs.seats import turns
from experiments.runs.seats.answer_forms import AnswerForm
from experiments.workflows import surface_of

OPENED = "opened_seats"  # in the session: seats whose invitation was opened in this browser
LATEST = 5  # answers of one's own that the page shows


@never_cache
@require_GET
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Open an invitation: this browser may answer for the seat until the invitation expires."""
    seated = turns.invited(token)
    if seated is None:
        return _unlisted(render(request, "seats/void.html", status=HTTPStatus.NOT_FOUND))
    request.session[OPENED] = [*dict.fromkeys([*request.session.get(OPENED, ()), str(seated.pk)])]
    return _unlisted(redirect("seat", seated.pk))


@never_cache
@require_http_methods(["GET", "POST"])
def seat(request: HttpRequest, pk: UUID) -> HttpResponse:
    """What the seat is asked, what it may see, and a field to answer."""
    seated = turns.find_seat(pk, by=request.user, opened=request.session.get(OPENED, ()))
    turn = next(iter(turns.open_turns(seated)), None)
    form = AnswerForm(turn.schema, seated.seat) if turn else None
    status = HTTPStatus.OK
    if request.method == "POST":
        step_id = int(step) if (step := request.POST.get("step", "")).isdecimal() else 0
        if turn is None or turn.step.pk != step_id:
            messages.error(request, _("This was answered already, or its time had passed. Nothing more was sent."))
            return _unlisted(redirect(seated))
        form = AnswerForm(turn.schema, seated.seat, request.POST)
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        if form.is_valid():
            try:
                turns.answer(seated, by=request.user, step_id=step_id, text=form.answer())
            except Refusal as error:
                messages.error(request, str(error))
            else:
                messages.success(request, _("Your answer is sent."))
            return _unlisted(redirect(seated))
    if (
        request.user.pk
        and request.user.pk != seated.person_id
        and str(seated.pk) not in request.session.get(OPENED, ())
    ):
        audit.record(audit.Action.RUN_READ, by=request.user, of=seated.experiment, seat=seated.seat)
    return _unlisted(render(request, "seats/seat.html", _context(seated, turn, form), status=status))


@never_cache
@login_required
@require_POST
def revoke(request: HttpRequest, pk: UUID) -> HttpResponse:
    """End an invitation; back to the run that it was seen on."""
    seated = turns.revoke(pk, by=person(request))
    messages.success(request, _("The invitation is revoked. Its link does not work any more."))
    run = seated.experiment.runs.order_by("-created").first()
    return redirect(run.get_absolute_url() if run else "runs")


@never_cache
@require_GET
def now(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Asked every few seconds while nothing is to be answered: 204 until something is."""
    seated = turns.find_seat(pk, by=request.user, opened=request.session.get(OPENED, ()))
    answer = HttpResponse(status=HTTPStatus.NO_CONTENT)
    if turns.open_turns(seated) or not _is_going_on(seated):
        answer = HttpResponse(status=HTTPStatus.OK)
        answer["HX-Refresh"] = "true"
    return _unlisted(answer)


def _context(seated: SeatedPerson, turn: turns.Turn | None, form: AnswerForm | None) -> dict[str, Any]:
    """others: whom the person is told to be with: of a blind seat nobody."""
    experiment = seated.experiment
    of_seat = Message.objects.filter(run__experiment=experiment, seat=seated.seat, operator__kind=SEATED)
    others = [] if seated.is_blind else ParticipantSerializer(experiment.seated, many=True).data
    named = [{**one, "role": role_name(experiment.workflow, one["seat"])} for one in others]
    return {
        "seated": seated,
        "surface": surface_of(experiment.workflow),
        "turn": turn,
        "form": form,
        "others": [one for one in named if one["seat"] != seated.seat],
        "said": of_seat.order_by("-created")[:LATEST],
        "is_going_on": _is_going_on(seated),
    }


def _is_going_on(seated: SeatedPerson) -> bool:
    return bool(seated.experiment.runs.live().exists())


def _unlisted(answer: HttpResponse) -> HttpResponse:
    answer["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    answer["Referrer-Policy"] = "same-origin"
    return answer
