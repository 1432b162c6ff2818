"""Turns of people: which are open, an answer, and the end of the time for one.

The engine records a question to a person as an open step (`engine/pauses.py`) and lets the run wait without a worker.
The step is closed here, once: with an answer, or, when its time has passed, as a failure with its reason.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import AlreadyAnswered, Conflict, Invalid, NotFound
from experiments.engine import jobs
from experiments.engine.events import emit
from experiments.engine.pauses import rested
from experiments.engine.projections import ABSENT, COPIED, message_data
from experiments.engine.text import is_storable
from experiments.library.search import indexing
from experiments.models import Experiment, Message, Run, SeatedPerson, Step
from experiments.models.run import PERSON
from experiments.models.seats import SALT, SEATED
from experiments.runs.steering import steering
from experiments.tasks import clock
from experiments.workflows.base.events import MessageCompleted, PersonAbsent
from experiments.workflows.base.steps import SPOKEN

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_ANSWER = 100_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person is asked now. shown: what the seat may see, as {role, text}; schema: the form of the answer, None
    for a text.
    """

    step: Step
    until: datetime
    shown: list[dict[str, str]]
    schema: dict[str, Any] | None

    @property
    def seconds_left(self) -> int:
        return max(0, round((self.until - clock.now()).total_seconds()))


def turn_of(step: Step) -> Turn:
    asked = step.data[PERSON]
    return Turn(step, datetime.fromisoformat(asked["until"]), asked["shown"], asked["schema"])


def open_steps() -> QuerySet[Step]:
    """Steps at which a person is asked, the oldest first."""
    live = Step.objects.filter(run__state__in=steering.LISTENING_STATES, run__deleted__isnull=True)
    asked = live.filter(kind="ask", state=Step.State.OPEN, data__has_key=PERSON)
    return asked.select_related("run__experiment").order_by("id")


def open_turns(seated: SeatedPerson) -> list[Turn]:
    """Of all runs of the experiment."""
    steps = open_steps().filter(run__experiment=seated.experiment_id, data__person__seat=seated.seat)
    return [turn_of(step) for step in steps]


def waiting_for(user: "User") -> list[tuple[SeatedPerson, Turn]]:
    """What a user is asked now, in all their seats."""
    seats = SeatedPerson.objects.filter(person=user, experiment__runs__state__in=steering.LISTENING_STATES).distinct()
    return [(seated, turn) for seated in seats.select_related("experiment") for turn in open_turns(seated)]


def find_seat(pk: UUID, *, by: "User | AnonymousUser", opened: Iterable[str] = ()) -> SeatedPerson:
    """Raises NotFound, also for who may not know of it."""
    seats = SeatedPerson.objects.held_by(by, opened).select_related("experiment", "person")
    if (found := seats.filter(pk=pk).first()) is None:
        raise NotFound
    return found


def revoke(pk: UUID, *, by: "User") -> SeatedPerson:
    """End an invitation: its link opens nothing from now on; a second time changes nothing. Raises NotFound for who may
    not change the experiment, and Conflict for the seat of a user, which has no link.
    """
    seats = SeatedPerson.objects.filter(experiment__in=Experiment.objects.changeable_by(by), pk=pk)
    with transaction.atomic():
        seated = seats.select_for_update(of=("self",)).select_related("experiment").first()
        if seated is None:
            raise NotFound
        if seated.expires is None:
            raise Conflict(_("A user of the platform is this participant, so there is no invitation to revoke."))
        if seated.expires > clock.now():
            seated.expires = clock.now()
            seated.save(update_fields=["expires"])
            audit.record(audit.Action.INVITATION_REVOKED, by=by, of=seated.experiment, seat=seated.seat)
    return seated


def invited(token: str) -> SeatedPerson | None:
    """The seat that an invitation link opens; None where the link is none, or has expired."""
    try:
        pk = UUID(signing.Signer(salt=SALT).unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return SeatedPerson.objects.held_by(AnonymousUser(), [pk]).filter(pk=pk).first()


def answer(seated: SeatedPerson, *, by: "User | AnonymousUser", step_id: int, text: str) -> Message | None:
    """Answer a question, once: of two browsers the first one counts. The message that it became, if it is one of the
    transcript. Raises NotFound, Invalid, Conflict or AlreadyAnswered.
    """
    if not text.strip():
        raise Invalid(text=_("The answer is empty."))
    if len(text) > LONGEST_ANSWER or not is_storable(text):
        raise Invalid(text=_("The text is too long, or has characters that cannot be stored."))
    asked = Step.objects.filter(pk=step_id, run__experiment=seated.experiment_id, data__person__seat=seated.seat)
    found = asked.filter(kind="ask", data__has_key=PERSON).select_related("run").first()
    if found is None:
        raise NotFound
    with transaction.atomic():
        run = steering.locked(found.run)
        step = Step.objects.get(pk=step_id)
        if step.state != Step.State.OPEN:
            raise AlreadyAnswered(_("This was answered already, or its time had passed. Nothing more was sent."))
        if run.state not in steering.LISTENING_STATES:
            raise Conflict(_("The run has ended. Your answer is not needed any more."))
        if turn_of(step).until <= clock.now():
            raise Conflict(_("The time for this answer has passed. The run continues without it."))
        message = _close(run, step, {"text": text}, seated)
        if by.pk and by.pk != seated.person_id:
            audit.record(audit.Action.SEAT_ANSWERED, by=by, of=run, seat=seated.seat, step=step.key)
    return message


def end_overdue_turns() -> int:
    """Close the turns whose time has passed; how many there were. Every worker that drives runs does so every few
    seconds.
    """
    overdue = [step for step in open_steps() if turn_of(step).until <= clock.now()]
    return sum(_end(step) for step in overdue)


def _end(overdue: Step) -> bool:
    with transaction.atomic():
        run = steering.locked(overdue.run)
        step = Step.objects.get(pk=overdue.pk)
        if step.state != Step.State.OPEN or run.state not in steering.LISTENING_STATES:
            return False
        seconds = round((turn_of(step).until - step.created).total_seconds())
        message = f"The person in this seat gave no answer within {seconds} seconds."
        _close(run, step, {"ok": False, "error_kind": ABSENT, "error": message})
    return True


def _close(run: Run, step: Step, outcome: dict[str, Any], seated: SeatedPerson | None = None) -> Message | None:
    """In a transaction that holds the run. seated: who answered; None when nobody did."""
    step.data = {**step.data, COPIED: outcome}
    step.state = Step.State.DONE if seated else Step.State.FAILED
    step.ended = timezone.now()
    step.save(update_fields=["data", "state", "ended"])
    message = None
    if seated is None:
        place = {"key": step.key, "seat": step.seat, "turn": step.turn, "purpose": step.purpose}
        emit(run.pk, PersonAbsent(**place, message=outcome["error"]))
    elif step.purpose in SPOKEN:
        message = _message(run, step, outcome["text"], seated)
        emit(run.pk, MessageCompleted.model_validate(message_data(message)))
    if run.move(Run.State.QUEUED, from_=(Run.State.WAITING,), fields=rested(run)):
        jobs.wake(run.pk)
    return message


def _message(run: Run, step: Step, text: str, seated: SeatedPerson) -> Message:
    message = Message.objects.create(
        run=run,
        step=step,
        seq=1 + Run.objects.values_list("last_seq", flat=True).get(pk=run.pk),
        turn=step.turn or 0,
        seat=step.seat,
        raw_text=text,
        text=text,
        operator={"kind": SEATED, "by": seated.shown_name},
    )
    indexing.message(message)
    return message


def people_of(run: Run) -> list[tuple[SeatedPerson, Turn | None]]:
    """Who sits in a run, and what each is asked in it now."""
    people = list(run.experiment.people.select_related("person"))
    asked = {step.data[PERSON]["seat"]: turn_of(step) for step in open_steps().filter(run=run)} if people else {}
    return [(seated, asked.get(seated.seat)) for seated in people]
