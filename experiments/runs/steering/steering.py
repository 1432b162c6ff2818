"""Verbs that steer a run: what is said at its pauses, pausing it, and changing how and how far it goes on."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts.errors import ActionUnavailable, AlreadyAnswered, Conflict, Invalid
from experiments.api.idempotency import once
from experiments.engine import jobs
from experiments.engine.events import emit, reserve_numbers
from experiments.engine.pauses import rested
from experiments.engine.projections import COPIED
from experiments.engine.text import is_storable
from experiments.models import Call, Run, Step
from experiments.models.run import LIVE_STATES, PAUSES, RECORDS
from experiments.runs.admission import require_change, require_models, require_role, require_spending
from experiments.tasks import clock
from experiments.workflows import workflow_of
from experiments.workflows.base.events import ExperimentState, ExperimentStopped, StepSkipped
from experiments.workflows.base.limits import Limits

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_TEXT = 1_000_000
LISTENING_STATES = (Run.State.WAITING, Run.State.RUNNING, Run.State.QUEUED)
OFFERING_STATES = (*LISTENING_STATES, Run.State.COMPLETED)
SPOKEN = ("send", "friend", "note", "alter", "retry_seat", "retry_short")  # actions that come with a text
ADDED = ("round", "summarize")  # actions that may come with a text: without one, the draft is what was added
REOPENED_STATES = (Run.State.COMPLETED, Run.State.STOPPED)
FRESH = {"error": "", "stop_reason": "", "ended": None, "lease_until": None, "is_held": False}
PASSES = ("default", "next")  # what a pause comes to when the run goes on by itself


# --- what is said at pauses ---


def say(run: Run, *, by: "User", key: str, action: str, text: str = "") -> None:
    """Answer the pause `key`: once, whoever is first. An empty text sent is the default. Raises Conflict,
    AlreadyAnswered, Invalid or Forbidden.
    """
    require_spending(run.experiment, by)
    with transaction.atomic():
        fresh = locked(run)
        step = run.steps.filter(key=key, kind__in=PAUSES).first()
        if step is None or fresh.state not in (OFFERING_STATES if step.kind == "offer" else LISTENING_STATES):
            raise Conflict(_not_waiting(run))
        _require_open(step)
        step.data = {**step.data, **_said(step, action, text, by)}
        step.state, step.ended = Step.State.DONE, timezone.now()
        step.save(update_fields=["data", "state", "ended"])
        emit(run.pk, step.said)
        go_on(fresh, by=by)


def _said(step: Step, action: str, text: str, by: "User") -> dict[str, object]:
    if action not in step.data["actions"]:
        raise ActionUnavailable(_("This pause does not offer “%(action)s”.") % {"action": action})
    _require_storable(text)
    default, is_empty = step.data["default"], not text.strip()
    if action == "send" and is_empty and default:
        action = "default"
    if action in SPOKEN and is_empty:
        raise Invalid(text=_("The text is empty."))
    words, is_edited = "", False
    if action in SPOKEN:
        words, is_edited = text, action == "send" and bool(default) and text != default
    elif action in ADDED:
        words = str(step.data.get("draft", "")) if is_empty else text
    elif action in PASSES:
        words = default
    return {"action": action, "text": words, "edited": is_edited, "by": by.get_username()}


def draft(run: Run, *, by: "User", key: str, text: str) -> None:
    """Keep what somebody has begun to write at an open pause. Raises AlreadyAnswered once it has been said."""
    require_change(run.experiment, by)
    _require_storable(text)
    with transaction.atomic():
        locked(run)
        step = run.steps.filter(key=key, kind__in=PAUSES).first()
        if step is None:
            raise Conflict(_not_waiting(run))
        _require_open(step)
        step.data = {**step.data, "draft": text}
        step.save(update_fields=["data"])


def ask_further(run: Run, *, by: "User", text: str, idempotency_key: str = "") -> None:
    """The next question, where one can be asked ahead. While an earlier one is being answered it waits for its turn: of
    two people who ask at the same time, both are heard, and whoever asks twice under one key once. Raises Conflict,
    Invalid or KeyReused.
    """
    require_spending(run.experiment, by)

    def ask() -> dict[str, object]:
        _ask(run, text, by)
        return {}

    once(ask, by=by, key=idempotency_key, request=("ask", str(run.pk), text))


@transaction.atomic
def _ask(run: Run, text: str, by: "User") -> None:
    fresh = locked(run)
    next_offer = workflow_of(fresh.experiment.workflow).next_offer
    if next_offer is None or fresh.state not in OFFERING_STATES:
        raise Conflict(_not_waiting(run))
    if not text.strip() or len(text) > LONGEST_TEXT or not is_storable(text):
        raise Invalid(text=_("The text is empty."))
    offers = list(run.steps.filter(kind="offer").order_by("turn", "id"))
    if offers and offers[-1].state == Step.State.OPEN:
        say(run, by=by, key=offers[-1].key, action="send", text=text)
        return
    if fresh.is_over:
        raise Conflict(_not_waiting(run))
    config = fresh.experiment.parsed_config(fresh.overrides)
    if not offers and getattr(config, "script", []):
        raise Conflict(_("The script is still being played. Ask your own questions once the run is completed."))
    key, turn = next_offer([(offer.turn or 1, offer.data.get("action")) for offer in offers])
    if turn == config.max_turns:
        raise ActionUnavailable(_("This council has answered its last question."))
    # What is said before it is asked for is found there when the run comes to it.
    offer = {"default": "", "actions": ["send"], "error": ""}
    said = {"action": "send", "text": text, "edited": False, "by": by.get_username()}
    place = {"key": key, "turn": turn, "kind": "offer", "purpose": "your_turn", "seat": "person"}
    step = run.steps.create(data={**offer, **said}, state=Step.State.DONE, ended=timezone.now(), **place)
    emit(run.pk, step.said)


def _require_storable(text: str) -> None:
    if len(text) > LONGEST_TEXT or not is_storable(text):
        raise Invalid(text=_("The text is too long, or has characters that cannot be stored."))


def _require_open(step: Step) -> None:
    if step.state != Step.State.OPEN:
        raise AlreadyAnswered(_("Another answer was given here first. Read it, then continue from there."))


def _not_waiting(run: Run) -> str:
    state = Run.objects.values_list("state", flat=True).get(pk=run.pk)
    if state == Run.State.STOPPING:
        return _("The run is being stopped; nothing more is asked for.")
    if state in LIVE_STATES:
        return _("The run is not waiting for this: a model is speaking.")
    return _("The run has ended. Branch from a message to continue from there.")


# --- pausing a run, and going on ---


def pause(run: Run, *, by: "User") -> bool:
    """Let the calls under way end, and begin nothing more. False when the run waits already, or is over."""
    require_change(run.experiment, by)
    with transaction.atomic():
        fresh = locked(run)
        if fresh.is_held or fresh.state not in (Run.State.RUNNING, Run.State.QUEUED):
            return False
        Run.objects.filter(pk=run.pk).update(is_held=True)
        _tell(run, by, is_held=True)
    return True


def release(run: Run, *, by: "User") -> bool:
    """Go on with a paused run. False when it is not paused."""
    require_spending(run.experiment, by)
    with transaction.atomic():
        fresh = locked(run)
        if not fresh.is_held or fresh.state not in LIVE_STATES:
            return False
        Run.objects.filter(pk=run.pk).update(is_held=False)
        fresh.is_held = False
        _tell(run, by, is_held=False)
        go_on(fresh, by=by)
    return True


def go_on(run: Run, *, by: "User") -> None:
    """Wake a run that waited, or that is over and goes on all the same; one that is driven notices by itself. Raises
    Conflict for a run from elsewhere.
    """
    if run.origin in RECORDS:
        raise Conflict(_not_waiting(run))
    fields = rested(run)
    if run.move(Run.State.QUEUED, from_=(Run.State.WAITING,), fields=fields):
        jobs.wake(run.pk)
    elif run.move(Run.State.QUEUED, from_=REOPENED_STATES, fields={**fields, **FRESH}):
        require_role(by)
        require_models(run.experiment)
        emit(run.pk, ExperimentState(state=Run.State.QUEUED.value, by=by.get_username()))
        jobs.wake(run.pk)


def locked(run: Run) -> Run:
    """The run as it is now; nobody else changes it until the end of the transaction."""
    reserve_numbers(run.pk, 0)
    return Run.objects.select_related("experiment").get(pk=run.pk)


def _tell(run: Run, by: "User", **changed: Any) -> None:
    state = Run.objects.values_list("state", flat=True).get(pk=run.pk)
    emit(run.pk, ExperimentState(state=state, by=by.get_username(), **changed))


# --- changing how, and how far, it goes on ---


def set_mode(run: Run, *, by: "User", mode: str) -> bool:
    """Manual: from the next pause on a person is asked. Automatic: nobody is, and the pause that is open now is
    answered with its default. False when it was so already. Raises Conflict when the run is over.
    """
    require_change(run.experiment, by)
    if mode not in Run.Mode.values:
        raise Invalid(mode=_("A run is automatic or manual."))
    if mode == Run.Mode.AUTOMATIC:
        require_spending(run.experiment, by)
    with transaction.atomic():
        fresh = locked(run)
        if fresh.state not in LIVE_STATES:
            raise Conflict(_("The run has ended."))
        if "mode" not in fresh.experiment.config:
            raise ActionUnavailable(_("Only arena and debate runs have a mode."))
        if fresh.mode == mode:
            return False
        limits = _limits_of_time(fresh, mode, fresh.overrides)
        Run.objects.filter(pk=run.pk).update(mode=mode, overrides={**fresh.overrides, **limits})
        _tell(run, by, mode=mode, **limits)
        if mode == Run.Mode.AUTOMATIC:
            step = run.steps.filter(kind="listen", state=Step.State.OPEN).order_by("id").last()
            if step and "default" in step.data["actions"]:
                say(run, by=by, key=step.key, action="default")
    return True


def extend(run: Run, *, by: "User", max_turns: int | None) -> None:
    """Let a live run go on for more turns than it was set up for. Raises Conflict or Invalid."""
    require_spending(run.experiment, by)
    if max_turns is not None and not 1 <= max_turns <= 100:
        raise Invalid(max_turns=_("Max turns ranges from 1 to 100."))
    with transaction.atomic():
        fresh = locked(run)
        if fresh.state not in LIVE_STATES or "max_turns" not in fresh.config:
            raise Conflict(_("The run has ended, or has no last turn to move."))
        done = run.steps.filter(purpose="turn_started").count()
        if max_turns is not None and max_turns < done:
            raise Invalid(max_turns=_("Turn %(turn)s has already begun.") % {"turn": done})
        changed = {"max_turns": max_turns}
        changed |= _limits_of_time(fresh, fresh.mode, {**fresh.overrides, **changed})
        Run.objects.filter(pk=run.pk).update(overrides={**fresh.overrides, **changed})
        _tell(run, by, **changed)


def _limits_of_time(run: Run, mode: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """As an override: a run that nobody waits for and that has no last turn gets an hour from now, where it has no
    limit of time yet.
    """
    if "mode" not in run.experiment.config:
        return {}
    own = run.experiment.parsed_config({**overrides, "mode": Run.Mode.MANUAL.value}).limits
    bounded = run.experiment.parsed_config({**overrides, "mode": mode}).limits
    if own.seconds is not None or bounded.seconds is None:
        return {}
    played = (clock.now() - run.started).total_seconds() - rested(run)["waited_seconds"] if run.started else 0.0
    limits = bounded.model_copy(update={"seconds": played + bounded.seconds})
    return {"limits": limits.model_dump(mode="json")}


def lift(run: Run, *, by: "User", limits: dict[str, Any], skip: bool = False) -> None:
    """Continue a run that a limit has stopped, with new limits. skip: without the answer that could not
    be asked for any more. Raises Conflict or Invalid.
    """
    require_spending(run.experiment, by)
    try:
        checked = Limits.model_validate(limits).model_dump(mode="json")
    except ValidationError as error:
        raise Invalid(limits=_("These are not valid limits for a run.")) from error
    with transaction.atomic():
        fresh = locked(run)
        if fresh.state != Run.State.STOPPED or not fresh.stop_reason.startswith("limit_"):
            raise Conflict(_("The run was not stopped by a limit."))
        if run.calls.filter(state=Call.State.STOPPED).exists():
            raise Invalid(limits=_("An answer was cut off at the limit. Branch from a message, or run it again."))
        if skip:
            _skip(run)
        Run.objects.filter(pk=run.pk).update(overrides={**fresh.overrides, "limits": checked})
        go_on(fresh, by=by)


def _skip(run: Run) -> None:
    """The step that was refused is recorded as one that nobody was asked for."""
    ended = ExperimentStopped.read(run.events.filter(type="experiment_stopped").latest("seq").data)
    refused = ended.refused
    if refused is None:
        raise ActionUnavailable(_("There is no missing answer to continue without."))
    why = {"ok": False, "error_kind": "limit", "error": "Nobody was asked: a limit of the run was reached."}
    place = refused.model_dump(exclude={"key"})
    closed = {**place, "kind": "ask", "state": Step.State.FAILED, "data": {COPIED: why}, "ended": timezone.now()}
    run.steps.update_or_create(key=refused.key, defaults=closed)
    emit(run.pk, StepSkipped(**refused.model_dump()))
