"""LLM Arena: one experiment of a person's at a time, started, steered and looked at without naming it."""

import operator
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.compatibility import talks
from experiments.api.compatibility.messages import message_shape, messages_of, metrics_of, slugs_of, talk_of, turns_of
from experiments.api.compatibility.views import (
    KEY_HELP,
    ClientView,
    NotYet,
    ProviderFailed,
    Text,
    described,
    now,
    reference,
    slug_of,
)
from experiments.api.compatibility.waiting import wait
from experiments.api.idempotency import once
from experiments.api.requests import idempotency_key, person, validated
from experiments.api.shapes import shape
from experiments.models import LIVE_STATES, ClientTalk, Run, Step
from experiments.runs import actions
from experiments.runs.steering import steering

ARENA = ClientTalk.System.ARENA
PREFIX = "exp"
NOTHING_RUNS = "No experiment of yours is running: start one first."
AFTER_A_TURN = "turn_completed"
UNREADABLE_TURNS = 30
UNLIMITED = -1
WHOLE = re.compile(r"\s*([+-]?\d{1,9})")
HIDDEN = "***"
NO_METRICS: dict[str, Any] = {
    "tokensUsed": 0,
    "goalDeviationScore": None,
    "turnsToDeviate": None,
    "cooperationScore": None,
    "lastBehavioralNotes": "",
    "sentimentHistory": [],
}


# What a client sends.


@extend_schema_field(OpenApiTypes.INT)
class Turns(serializers.Field[int, Any, int, Any]):
    """A number of turns, -1 for no limit; the client may send it as text."""

    default_error_messages = {"none": "Missing required field: maxTurns"}

    def to_internal_value(self, data: Any) -> int:
        if not data:
            self.fail("none")
        found = WHOLE.match(str(data))
        turns = int(found[1]) if found else UNREADABLE_TURNS
        return turns or UNREADABLE_TURNS

    def to_representation(self, value: int) -> int:
        return value


class ArenaStart(serializers.Serializer[Any]):
    experimentMode = serializers.ChoiceField(Run.Mode.choices, default="automatic")
    promptingMode = serializers.ChoiceField(["shared", "individual"])
    sharedPrompt = Text(allow_null=True)
    promptA = Text(allow_null=True)
    promptB = Text(allow_null=True)
    systemPrompt = Text(allow_null=True)
    maxTurns = Turns(help_text="-1 for no limit.")
    modelA = serializers.CharField(max_length=200)
    modelB = serializers.CharField(max_length=200)
    requestLogprobs = serializers.BooleanField(default=False)
    apiKeyA = serializers.CharField(required=False, allow_blank=True, allow_null=True, help_text=KEY_HELP)
    apiKeyB = serializers.CharField(required=False, allow_blank=True, allow_null=True, help_text=KEY_HELP)

    def validate(self, attrs: dict[str, Any]) -> dict[str, object]:
        if attrs["promptingMode"] == "shared" and not (attrs["sharedPrompt"] or "").strip():
            raise serializers.ValidationError({"sharedPrompt": [_("Write the prompt for the two models.")]})
        if attrs["promptingMode"] == "individual":
            missing = [name for name in ("promptA", "promptB") if not (attrs[name] or "").strip()]
            if missing:
                raise serializers.ValidationError({name: [_("Write the instructions.")] for name in missing})
        return attrs


class ManualContinue(serializers.Serializer[Any]):
    """customPrompt: replaces the whole prompt; the default prompt is sent when it is omitted or blank."""

    targetModel = serializers.ChoiceField(["A", "B"], required=False, allow_null=True, default=None)
    customPrompt = Text(allow_null=True)


# What it is answered.

SUCCESS = serializers.CharField(help_text="success")
ArenaSaid = shape("ArenaSaid", status=SUCCESS, message=str, timestamp=datetime)
ArenaStarted = shape(
    "ArenaStarted",
    ArenaSaid,
    doc="experimentId is what this client calls it, runId what the rest of the API does.",
    experimentId=str,
    runId=UUID,
    config=dict,
)
SeatMetrics = shape(
    "SeatMetrics",
    doc="goalDeviationScore 0-100, cooperationScore -1 to 1: the latest that the judge gave, null where it gave none.",
    tokensUsed=int,
    goalDeviationScore=float | None,
    turnsToDeviate=int | None,
    cooperationScore=float | None,
    lastBehavioralNotes=str,
    sentimentHistory=list[dict[str, Any]],
)
FinalState = shape(
    "FinalState",
    doc="duration in milliseconds.",
    totalTurns=int,
    conversationLength=int,
    startTime=datetime | None,
    endTime=datetime | None,
    duration=int | None,
    metricsA=SeatMetrics(),
    metricsB=SeatMetrics(),
)
ArenaStopped = shape("ArenaStopped", ArenaSaid, finalState=FinalState())
ManualState = shape(
    "ManualState",
    currentTurn=int,
    conversationLength=int,
    waitingForUser=bool,
    nextExpectedModel=str | None,
    pauseReason=str,
)
ArenaStepped = shape("ArenaStepped", ArenaSaid, state=ManualState())
ArenaContinued = shape("ArenaContinued", ArenaStepped, newMessage=dict)
ExperimentStatus = shape(
    "ExperimentStatus",
    ManualState,
    doc="currentTurn: how many turns are over. maxTurns: -1 for no limit. progress in per cent.",
    experimentId=str | None,
    runId=UUID | None,
    isRunning=bool,
    maxTurns=int,
    startTime=datetime | None,
    endTime=datetime | None,
    progress=float,
    conversation=list[dict[str, Any]],
    metricsA=SeatMetrics(),
    metricsB=SeatMetrics(),
    config=serializers.DictField(allow_null=True),
    error=str | None,
)
ArenaStatus = shape("ArenaStatus", status=SUCCESS, timestamp=datetime, experiment=ExperimentStatus())
ArenaTurn = shape(
    "ArenaTurn",
    ArenaSaid,
    turn=int,
    newMessages=list[dict[str, Any]],
    conversation=list[dict[str, Any]],
    isComplete=bool,
    metrics=serializers.DictField(child=SeatMetrics()),
)
PlayedTurn = shape(
    "PlayedTurn", turnNumber=int, messages=list[dict[str, Any]], isExperimentComplete=bool, totalMessages=int
)
StateAfterTurn = shape(
    "StateAfterTurn",
    isRunning=bool,
    currentTurn=int,
    progress=float,
    metricsA=SeatMetrics(),
    metricsB=SeatMetrics(),
)
TurnOfStatus = shape("TurnOfStatus", ArenaSaid, turn=PlayedTurn(), state=StateAfterTurn())


class ArenaView(ClientView):
    def in_their_words(self, detail: str) -> dict[str, object]:
        return {"message": detail, "error": detail, "timestamp": now()}


class NothingRuns(serializers.ValidationError):
    def __init__(self) -> None:
        super().__init__({"detail": _(NOTHING_RUNS)})


class StartView(ArenaView):
    """Start an experiment. In manual mode it waits for `manual-continue`; poll `status` for its progress."""

    @described("compat_experiment_start", ArenaStart, ArenaStarted, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(ArenaStart, request, allow_unknown=True)
        individual, turns = asked["promptingMode"] == "individual", asked["maxTurns"]
        config = {
            "mode": asked["experimentMode"],
            "prompting": asked["promptingMode"],
            "prompt": "" if individual else asked["sharedPrompt"],
            "prompts": {"A": asked["promptA"], "B": asked["promptB"]} if individual else None,
            "system_prompt": asked["systemPrompt"] or "",
            "max_turns": None if turns < 0 else turns,
            "logprobs": asked["requestLogprobs"],
        }
        cast = {side: {"model": slug_of(asked[f"model{side}"], f"model{side}")} for side in ("A", "B")}
        talk = talks.begin(ARENA, by=person(request), config=config, cast=cast, key=idempotency_key(request))
        run = talks.run_of(talk)
        named = {"experimentId": reference(PREFIX, talk.pk), "runId": str(run.pk)}
        return _said("Experiment started successfully", **named, config=_echoed(run.config, slugs_of(run)))


class StopView(ArenaView):
    """Stop the experiment; its messages are kept. Does nothing when none is running."""

    scope = Scope.WRITE

    @described("compat_experiment_stop", None, ArenaStopped)
    def post(self, request: Request) -> Response:
        if begun := talks.under_way(ARENA, person(request)):
            actions.stop(begun, by=person(request))
            wait(request, begun.pk, lambda: Run.objects.get(pk=begun.pk).is_over or None)
        last = talks.latest(ARENA, person(request))
        run = last.run if last else None
        start, end = (run.started, run.ended) if run else (None, None)
        final = {
            "totalTurns": turns_of(run),
            "conversationLength": _length(run),
            "startTime": _moment(start),
            "endTime": _moment(end),
            "duration": round((end - start).total_seconds() * 1000) if start and end else None,
        }
        return _said("Experiment stopped successfully", finalState={**final, **_both_metrics(run)})


class StatusView(ArenaView):
    @described("compat_experiment_status", None, ArenaStatus)
    def get(self, request: Request) -> Response:
        """The state of the experiment that was started last."""
        talk = talks.latest(ARENA, person(request))
        run = talk.run if talk else None
        experiment = {
            "experimentId": reference(PREFIX, talk.pk) if talk else None,
            "runId": str(run.pk) if run else None,
            "isRunning": run is not None and run.state in LIVE_STATES,
            "maxTurns": (run.config["max_turns"] or UNLIMITED) if run else 0,
            "startTime": _moment(run.started) if run else None,
            "endTime": _moment(run.ended) if run else None,
            "progress": _progress(run),
            "conversation": talk_of(run) if run else [],
            "config": _echoed(run.config, slugs_of(run)) if run else None,
            "error": (run.error or None) if run else None,
        }
        experiment |= _manual_state(run) | _both_metrics(run)
        return Response({"status": "success", "timestamp": now(), "experiment": experiment})

    @described("compat_experiment_status_turn", None, TurnOfStatus, spends=True)
    def post(self, request: Request) -> Response:
        """Run one turn to its end; in manual mode with the default prompts."""
        begun = talks.under_way(ARENA, person(request))
        if begun is None:
            raise Conflict(_(NOTHING_RUNS))
        run, number = _played_turn(request, begun)
        played = {
            "turnNumber": turns_of(run),
            "messages": messages_of(run, turn=number),
            "isExperimentComplete": run.is_over,
            "totalMessages": _length(run),
        }
        state = {"isRunning": not run.is_over, "currentTurn": turns_of(run), "progress": _progress(run)}
        return _said("Turn processed successfully", turn=played, state={**state, **_both_metrics(run)})


class TurnView(ArenaView):
    """Run one turn to its end; in manual mode with the default prompts."""

    @described("compat_experiment_turn", None, ArenaTurn, spends=True)
    def post(self, request: Request) -> Response:
        run, number = _played_turn(request, _running(request))
        return _said(
            "Turn processed successfully",
            turn=turns_of(run),
            newMessages=messages_of(run, turn=number),
            conversation=talk_of(run),
            isComplete=run.is_over,
            metrics=_both_metrics(run),
        )


class ManualContinueView(ArenaView):
    """Let the next model answer. Returns when it has answered; after the second one, when the turn is judged."""

    @described("compat_experiment_manual_continue", ManualContinue, ArenaContinued, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(ManualContinue, request, allow_unknown=True)
        run = _running_by_hand(request)
        text, key, by = asked["customPrompt"] or "", idempotency_key(request), person(request)
        pause = _pause(run)
        if pause and pause.purpose == AFTER_A_TURN and not talks.is_repeated(key, by):
            steering.say(run, by=by, key=pause.key, action="next")  # a client may go straight on to the next turn
            _moved_on(request, run, pause.key)

        def go() -> Step:
            """The pause before a side speaks: that of the next speaker, where none is named."""
            pause = _pause(run)
            if pause is None:
                raise Conflict(_("A model is speaking. Wait until it has finished."))
            if asked["targetModel"] and pause.seat != asked["targetModel"]:
                raise Conflict(_("It is not Model %(side)s's turn.") % {"side": asked["targetModel"]})
            return pause

        said = talks.say_at(run, go, by=by, action="send" if text.strip() else "default", text=text, key=key)
        run = _moved_on(request, run, said["pause"])
        answers = run.messages.filter(seat=said["seat"], seq__gt=said["seq"]).select_related("call")
        message = answers.order_by("seq").last()
        if message is None:
            pause = _pause(run)
            why = pause.data.get("error") if pause else run.error
            raise ProviderFailed(why or _("The model gave no answer."))
        return _said(
            "Manual continue processed successfully",
            newMessage=message_shape(message, slugs_of(run)),
            state=_manual_state(run),
        )


class NextTurnView(ArenaView):
    """Continue to the next turn of an experiment in manual mode."""

    @described("compat_experiment_next_turn", None, ArenaStepped, spends=True)
    def post(self, request: Request) -> Response:
        run = _running_by_hand(request)

        def between_turns() -> Step:
            pause = _pause(run)
            if pause is None or pause.purpose != AFTER_A_TURN:
                raise Conflict(_("This turn is not over. The next one follows it."))
            return pause

        said = talks.say_at(run, between_turns, by=person(request), action="next", key=idempotency_key(request))
        return _said("Next turn started successfully", state=_manual_state(_moved_on(request, run, said["pause"])))


def _running(request: Request) -> Run:
    run = talks.under_way(ARENA, person(request))
    if run is None:
        raise NothingRuns
    return run


def _running_by_hand(request: Request) -> Run:
    run = _running(request)
    if run.mode != Run.Mode.MANUAL:
        raise serializers.ValidationError(
            {"detail": _("This experiment is in automatic mode and continues by itself.")}
        )
    return run


def _pause(run: Run) -> Step | None:
    pauses = run.open_pauses
    return pauses[-1] if pauses and run.state in LIVE_STATES else None


def _moved_on(
    request: Request, run: Run, pause: str, is_done: Callable[[Run], bool] = operator.attrgetter("is_over")
) -> Run:
    """The run when it waits at another pause than this one, or when this is done."""

    def look() -> Run | None:
        fresh = Run.objects.select_related("experiment").get(pk=run.pk)
        at = _pause(fresh) if fresh.state == Run.State.WAITING else None
        return fresh if is_done(fresh) or (at and at.key != pause) else None

    found = wait(request, run.pk, look)
    if found is None:
        raise NotYet(_("The models are still speaking, and the experiment continues. Check its status later."))
    return found


def _played_turn(request: Request, run: Run) -> tuple[Run, int]:
    """The run after one more turn, and the turn's number."""
    key, by = idempotency_key(request), person(request)
    asked = once(lambda: {"turn": turns_of(run) + 1}, by=by, key=key, request=("turn", run.pk.hex))
    turn = asked["turn"]

    def is_played(run: Run) -> bool:
        """After the last turn the experiment is over, too."""
        return run.is_over or (turns_of(run) >= turn and turn != run.config["max_turns"])

    while not is_played(run):
        pause = _pause(run)
        if pause:
            if pause.data.get("error"):
                raise ProviderFailed(pause.data["error"])
            steering.say(run, by=by, key=pause.key, action="default")
        run = _moved_on(request, run, pause.key if pause else "", is_played)
    return run, turn


def _said(message: str, **more: Any) -> Response:
    return Response({"status": "success", "message": message, "timestamp": now(), **more})


def _echoed(config: Mapping[str, Any], slugs: Mapping[str, str]) -> dict[str, object]:
    """An experiment's configuration as the client sent it. Keys are hidden: there are none."""
    prompts = config.get("prompts") or {}
    return {
        "experimentMode": config["mode"],
        "promptingMode": config["prompting"],
        "sharedPrompt": config["prompt"],
        "promptA": prompts.get("A", ""),
        "promptB": prompts.get("B", ""),
        "systemPrompt": config["system_prompt"],
        "maxTurns": config["max_turns"] or UNLIMITED,
        "modelA": slugs.get("A", ""),
        "modelB": slugs.get("B", ""),
        "requestLogprobs": config["logprobs"],
        "apiKeyA": HIDDEN,
        "apiKeyB": HIDDEN,
    }


def _manual_state(run: Run | None) -> dict[str, object]:
    pause = _pause(run) if run else None
    return {
        "currentTurn": turns_of(run),
        "conversationLength": _length(run),
        "waitingForUser": pause is not None,
        "nextExpectedModel": (pause.seat or None) if pause else None,
        "pauseReason": pause.purpose if pause else "",
    }


def _length(run: Run | None) -> int:
    return run.messages.filter(superseded=False, seat__in=("A", "B")).count() if run else 0


def _both_metrics(run: Run | None) -> dict[str, object]:
    found = metrics_of(run) if run else {}
    return {f"metrics{seat}": found.get(seat, NO_METRICS) for seat in ("A", "B")}


def _progress(run: Run | None) -> float:
    most = run.config["max_turns"] if run else None
    return turns_of(run) / most * 100 if most else 0.0


def _moment(at: Any) -> str | None:
    return at.isoformat() if at else None
