"""Verbs that let a run go on further than it was set up for: another question, a draft kept, a limit lifted."""

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts.errors import ActionUnavailable, AlreadyAnswered, Conflict, Invalid
from experiments.api.idempotency import once
from experiments.engine.events import emit
from experiments.engine.recorded import COPIED
from experiments.engine.text import is_storable
from experiments.models import Call, Run, Step
from experiments.models.run import PAUSES
from experiments.runs.admission import require_change, require_spending
from experiments.runs.steering.steering import LONGEST_TEXT, OFFERING_STATES, go_on, locked, not_waiting, say
from experiments.workflows import workflow_of
from experiments.workflows.base.events import ExperimentStopped, StepSkipped
from experiments.workflows.base.limits import Limits

if TYPE_CHECKING:
    from accounts.models import User


def ask_further(run: Run, *, by: "User", text: str, idempotency_key: str = "") -> None:
    """The next question, where one can be asked ahead. While an earlier one is being answered it waits for its turn: of
    two people who ask at the same time, both are heard, and whoever asks twice under one key once. Raises Conflict,
    Invalid or KeyReused.
    """

    require_spending(run.experiment, by)

    def ask() -> dict[str, Any]:
        _ask(run, text, by)
        return {}

    once(ask, by=by, key=idempotency_key, request=("ask", str(run.pk), text))


def _ask(run: Run, text: str, by: "User") -> None:
    with transaction.atomic():
        fresh = locked(run)
        next_offer = workflow_of(fresh.experiment.workflow).next_offer
        if next_offer is None or fresh.state not in OFFERING_STATES:
            raise Conflict(not_waiting(run))
        if not text.strip() or len(text) > LONGEST_TEXT or not is_storable(text):
            raise Invalid(text=_("Write something first."))
        offers = list(run.steps.filter(kind="offer").order_by("turn", "id"))
        if offers and offers[-1].state == Step.State.OPEN:
            say(run, by=by, key=offers[-1].key, action="send", text=text)
            return
        if fresh.is_over:
            raise Conflict(not_waiting(run))
        key, turn = next_offer([(offer.turn or 1, offer.data.get("action")) for offer in offers])
        if turn == fresh.experiment.parsed_config(fresh.overrides).max_turns:
            raise ActionUnavailable(_("The last question of this council has been asked."))
        _say_ahead(run, (key, turn), text, by)


def _say_ahead(run: Run, place: tuple[str, int], text: str, by: "User") -> None:
    """What is said before it is asked for is found there when the run comes to it."""
    key, turn = place
    offer = {"default": "", "actions": ["send"], "error": ""}
    said = {"action": "send", "text": text, "edited": False, "by": by.get_username()}
    done = {
        "kind": "offer",
        "purpose": "your_turn",
        "seat": "person",
        "turn": turn,
        "state": Step.State.DONE,
        "ended": timezone.now(),
    }
    step = run.steps.create(key=key, data={**offer, **said}, **done)
    emit(run.pk, step.said)


def draft(run: Run, *, by: "User", key: str, text: str) -> None:
    """Keep what somebody has begun to write at an open pause. Raises AlreadyAnswered once it has been said."""
    require_change(run.experiment, by)
    if len(text) > LONGEST_TEXT or not is_storable(text):
        raise Invalid(text=_("The text is too long, or holds characters that cannot be stored."))
    with transaction.atomic():
        locked(run)
        step = run.steps.filter(key=key, kind__in=PAUSES).first()
        if step is None:
            raise Conflict(not_waiting(run))
        if step.state != Step.State.OPEN:
            raise AlreadyAnswered(_("Something else was said here first: look at what it was, then go on from there."))
        step.data = {**step.data, "draft": text}
        step.save(update_fields=["data"])


def lift(run: Run, *, by: "User", limits: dict[str, Any], skip: bool = False) -> None:
    """Go on with a run that one of its limits has stopped, under other limits. skip: without the answer that could not
    be asked for any more. Raises Conflict or Invalid.
    """
    require_spending(run.experiment, by)
    checked = _checked_limits(limits)
    with transaction.atomic():
        fresh = locked(run)
        if fresh.state != Run.State.STOPPED or not fresh.stop_reason.startswith("limit_"):
            raise Conflict(_("No limit has stopped this run."))
        if run.calls.filter(state=Call.State.STOPPED).exists():
            raise Invalid(limits=_("An answer was cut off at the limit: branch from a message, or run it again."))
        if skip:
            _skip(run)
        Run.objects.filter(pk=run.pk).update(overrides={**fresh.overrides, "limits": checked})
        go_on(fresh, by=by)


def _checked_limits(limits: dict[str, Any]) -> dict[str, Any]:
    try:
        return Limits.model_validate(limits).model_dump(mode="json")
    except ValidationError as error:
        raise Invalid(limits=_("These are no limits that a run could have.")) from error


def _skip(run: Run) -> None:
    """The step that was refused is recorded as one that nobody was asked for."""
    ended = ExperimentStopped.read(run.events.filter(type="experiment_stopped").latest("seq").data)
    refused = ended.refused
    if refused is None:
        raise ActionUnavailable(_("There is no answer to go on without."))
    why = {"ok": False, "error_kind": "limit", "error": "Nobody was asked: a limit of the run was reached."}
    place = refused.model_dump(exclude={"key"})
    closed = {**place, "kind": "ask", "state": Step.State.FAILED, "data": {COPIED: why}, "ended": timezone.now()}
    run.steps.update_or_create(key=refused.key, defaults=closed)
    emit(run.pk, StepSkipped(**refused.model_dump()))
