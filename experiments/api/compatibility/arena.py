"""LLM Arena: one experiment of a person's at a time, started, steered and looked at without naming it."""

from collections.abc import Callable

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.compatibility import arena_shapes as shapes
from experiments.api.compatibility import talks
from experiments.api.compatibility.arena_requests import ArenaStart, ManualContinue, cast_of, config_of
from experiments.api.compatibility.shapes import message_shape, slugs_of
from experiments.api.compatibility.views import ClientView, NotYet, ProviderFailed, described, now
from experiments.api.compatibility.waiting import wait
from experiments.api.idempotency import once
from experiments.api.requests import idempotency_key, person, validated
from experiments.models import LIVE_STATES, ClientTalk, Run, Step
from experiments.runs import actions
from experiments.runs.steering import steering

ARENA = ClientTalk.System.ARENA
NOTHING_RUNS = "No experiment of yours is running: start one first."
AFTER_A_TURN = "turn_completed"


class ArenaView(ClientView):
    def in_their_words(self, detail: str) -> dict[str, object]:
        return {"message": detail, "error": detail, "timestamp": now()}


class NothingRuns(serializers.ValidationError):
    def __init__(self) -> None:
        super().__init__({"detail": _(NOTHING_RUNS)})


class StartView(ArenaView):
    """Start an experiment. It goes on by itself, or waits for `manual-continue`; `status` says how it stands."""

    @described("compat_experiment_start", ArenaStart, shapes.ArenaStarted, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(ArenaStart, request)
        key = idempotency_key(request)
        talk = talks.begin(ARENA, by=person(request), config=config_of(asked), cast=cast_of(asked), key=key)
        return Response(shapes.started(talk))


class StopView(ArenaView):
    """Stop the experiment; what was said so far is kept. Nothing happens where none is running."""

    scope = Scope.WRITE

    @described("compat_experiment_stop", None, shapes.ArenaStopped)
    def post(self, request: Request) -> Response:
        run = talks.under_way(ARENA, person(request))
        if run:
            actions.stop(run, by=person(request))
            wait(request, run.pk, lambda: Run.objects.get(pk=run.pk).is_over or None)
        last = talks.latest(ARENA, person(request))
        return Response(shapes.stopped(last.run if last else None))


class StatusView(ArenaView):
    @described("compat_experiment_status", None, shapes.ArenaStatus)
    def get(self, request: Request) -> Response:
        """How the experiment stands that was started last."""
        return Response(shapes.status(talks.latest(ARENA, person(request))))

    @described("compat_experiment_status_turn", None, shapes.TurnOfStatus, spends=True)
    def post(self, request: Request) -> Response:
        """Play a turn to its end: in manual mode with the prompts as they are."""
        run = talks.under_way(ARENA, person(request))
        if run is None:
            raise Conflict(_(NOTHING_RUNS))
        return Response(shapes.turn_of_status(*_played_turn(request, run)))


class TurnView(ArenaView):
    """Play a turn to its end: in manual mode with the prompts as they are."""

    @described("compat_experiment_turn", None, shapes.ArenaTurn, spends=True)
    def post(self, request: Request) -> Response:
        run = _running(request)
        return Response(shapes.turn(*_played_turn(request, run)))


class ManualContinueView(ArenaView):
    """Let the model speak whose go it is. Answered when it has, and after the second one when the turn is judged."""

    @described("compat_experiment_manual_continue", ManualContinue, shapes.ArenaContinued, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(ManualContinue, request)
        run = _running_by_hand(request)
        text = asked["customPrompt"] or ""
        if not talks.is_repeated(idempotency_key(request), person(request)):
            _begin_turn(request, run)
        said = _say(
            request, run, lambda: _go_of(run, asked["targetModel"]), "send" if text.strip() else "default", text
        )
        run = _moved_on(request, run, said["pause"])
        message = (
            run.messages.filter(seat=said["seat"], seq__gt=said["seq"]).select_related("call").order_by("seq").last()
        )
        if message is None:
            raise ProviderFailed(_why_silent(run))
        shown = message_shape(message, slugs_of(run))
        return Response(shapes.stepped(run, "Manual continue processed successfully", newMessage=shown))


class NextTurnView(ArenaView):
    """Go on to the next turn of an experiment in manual mode."""

    @described("compat_experiment_next_turn", None, shapes.ArenaStepped, spends=True)
    def post(self, request: Request) -> Response:
        run = _running_by_hand(request)
        said = _say(request, run, lambda: _between_turns(run), "next")
        return Response(shapes.stepped(_moved_on(request, run, said["pause"]), "Next turn started successfully"))


def _running(request: Request) -> Run:
    run = talks.under_way(ARENA, person(request))
    if run is None:
        raise NothingRuns
    return run


def _running_by_hand(request: Request) -> Run:
    run = _running(request)
    if run.mode != Run.Mode.MANUAL:
        raise serializers.ValidationError({"detail": _("This experiment goes on by itself: it is in automatic mode.")})
    return run


def _begin_turn(request: Request, run: Run) -> None:
    """A client that goes straight on to the next turn is taken there."""
    pause = _pause(run)
    if pause and pause.purpose == AFTER_A_TURN:
        steering.say(run, by=person(request), key=pause.key, action="next")
        _moved_on(request, run, pause.key)


def _go_of(run: Run, side: str | None) -> Step:
    """The pause before a side speaks: whoever's go it is, where none is named."""
    pause = _pause(run)
    if pause is None:
        raise Conflict(_("A model is speaking: wait until it has finished."))
    if side and pause.seat != side:
        raise Conflict(_("It is not the turn of Model %(side)s.") % {"side": side})
    return pause


def _between_turns(run: Run) -> Step:
    pause = _pause(run)
    if pause is None or pause.purpose != AFTER_A_TURN:
        raise Conflict(_("This turn is not over yet: the next one comes after it."))
    return pause


def _say(request: Request, run: Run, find: Callable[[], Step], action: str, text: str = "") -> talks.Said:
    return talks.say_at(run, find, by=person(request), action=action, text=text, key=idempotency_key(request))


def _pause(run: Run) -> Step | None:
    pauses = run.open_pauses
    return pauses[-1] if pauses and run.state in LIVE_STATES else None


def _moved_on(request: Request, run: Run, pause: str) -> Run:
    """The run when it waits at another pause than this one, or is over."""

    def look() -> Run | None:
        fresh = _fresh(run)
        return fresh if fresh.is_over or _waits_elsewhere(fresh, pause) else None

    return _found(wait(request, run.pk, look))


def _why_silent(run: Run) -> str:
    pause = _pause(run)
    return (pause.data.get("error") if pause else run.error) or _("The model gave no answer.")


def _played_turn(request: Request, run: Run) -> tuple[Run, int]:
    """The run after one more turn, and the turn's number."""
    key, by = idempotency_key(request), person(request)
    asked = once(lambda: {"turn": shapes.turns_of(run) + 1}, by=by, key=key, request=("turn", run.pk.hex))
    turn = asked["turn"]
    while not _is_played(run, turn):
        pause = _pause(run)
        if pause:
            if pause.data.get("error"):
                raise ProviderFailed(pause.data["error"])
            steering.say(run, by=by, key=pause.key, action="default")
        run = _turn_ended(request, run, turn, pause.key if pause else "")
    return run, turn


def _turn_ended(request: Request, run: Run, turn: int, pause: str) -> Run:
    """The run when the turn is over, or when it waits at another pause."""

    def look() -> Run | None:
        fresh = _fresh(run)
        return fresh if _is_played(fresh, turn) or _waits_elsewhere(fresh, pause) else None

    return _found(wait(request, run.pk, look))


def _is_played(run: Run, turn: int) -> bool:
    """After the last turn the experiment is over, too."""
    return run.is_over or (shapes.turns_of(run) >= turn and turn != run.config["max_turns"])


def _fresh(run: Run) -> Run:
    return Run.objects.select_related("experiment").get(pk=run.pk)


def _waits_elsewhere(run: Run, pause: str) -> bool:
    at = _pause(run)
    return run.state == Run.State.WAITING and at is not None and at.key != pause


def _found(run: Run | None) -> Run:
    if run is None:
        raise NotYet(_("The models are still speaking. The experiment goes on: look at its status."))
    return run
