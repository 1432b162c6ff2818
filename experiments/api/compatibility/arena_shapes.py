"""The answers that a client of LLM Arena knows."""

from typing import Any

from rest_framework import serializers

from experiments.api.compatibility.arena_requests import echoed
from experiments.api.compatibility.naming import reference
from experiments.api.compatibility.shapes import message_shape, metrics_of, slugs_of, talk_of
from experiments.api.compatibility.views import now
from experiments.models import LIVE_STATES, ClientTalk, Run

PREFIX = "exp"
NO_METRICS: dict[str, Any] = {
    "tokensUsed": 0,
    "goalDeviationScore": None,
    "turnsToDeviate": None,
    "cooperationScore": None,
    "lastBehavioralNotes": "",
    "sentimentHistory": [],
}


class ArenaSaid(serializers.Serializer[Any]):
    status = serializers.CharField(help_text="success")
    message = serializers.CharField()
    timestamp = serializers.DateTimeField()


class ArenaStarted(ArenaSaid):
    """experimentId is what this client calls it, runId what the rest of the API does."""

    experimentId = serializers.CharField()
    runId = serializers.UUIDField()
    config = serializers.DictField()


class SeatMetrics(serializers.Serializer[Any]):
    """goalDeviationScore 0-100, cooperationScore -1 to 1: the latest that the judge gave, null where it gave none."""

    tokensUsed = serializers.IntegerField()
    goalDeviationScore = serializers.FloatField(allow_null=True)
    turnsToDeviate = serializers.IntegerField(allow_null=True)
    cooperationScore = serializers.FloatField(allow_null=True)
    lastBehavioralNotes = serializers.CharField(allow_blank=True)
    sentimentHistory = serializers.ListField(child=serializers.DictField())


class FinalState(serializers.Serializer[Any]):
    """duration in milliseconds."""

    totalTurns = serializers.IntegerField()
    conversationLength = serializers.IntegerField()
    startTime = serializers.DateTimeField(allow_null=True)
    endTime = serializers.DateTimeField(allow_null=True)
    duration = serializers.IntegerField(allow_null=True)
    metricsA = SeatMetrics()
    metricsB = SeatMetrics()


class ArenaStopped(ArenaSaid):
    finalState = FinalState()


class ManualState(serializers.Serializer[Any]):
    currentTurn = serializers.IntegerField()
    conversationLength = serializers.IntegerField()
    waitingForUser = serializers.BooleanField()
    nextExpectedModel = serializers.CharField(allow_null=True)
    pauseReason = serializers.CharField(allow_blank=True)


class ArenaStepped(ArenaSaid):
    state = ManualState()


class ArenaContinued(ArenaStepped):
    newMessage = serializers.DictField()


class ExperimentStatus(ManualState):
    """currentTurn: how many turns are over. maxTurns: -1 for no limit. progress in per cent."""

    experimentId = serializers.CharField(allow_null=True)
    runId = serializers.UUIDField(allow_null=True)
    isRunning = serializers.BooleanField()
    maxTurns = serializers.IntegerField()
    startTime = serializers.DateTimeField(allow_null=True)
    endTime = serializers.DateTimeField(allow_null=True)
    progress = serializers.FloatField()
    conversation = serializers.ListField(child=serializers.DictField())
    metricsA = SeatMetrics()
    metricsB = SeatMetrics()
    config = serializers.DictField(allow_null=True)
    error = serializers.CharField(allow_null=True)


class ArenaStatus(serializers.Serializer[Any]):
    status = serializers.CharField(help_text="success")
    timestamp = serializers.DateTimeField()
    experiment = ExperimentStatus()


class ArenaTurn(ArenaSaid):
    turn = serializers.IntegerField()
    newMessages = serializers.ListField(child=serializers.DictField())
    conversation = serializers.ListField(child=serializers.DictField())
    isComplete = serializers.BooleanField()
    metrics = serializers.DictField(child=SeatMetrics())


class PlayedTurn(serializers.Serializer[Any]):
    turnNumber = serializers.IntegerField()
    messages = serializers.ListField(child=serializers.DictField())
    isExperimentComplete = serializers.BooleanField()
    totalMessages = serializers.IntegerField()


class StateAfterTurn(serializers.Serializer[Any]):
    isRunning = serializers.BooleanField()
    currentTurn = serializers.IntegerField()
    progress = serializers.FloatField()
    metricsA = SeatMetrics()
    metricsB = SeatMetrics()


class TurnOfStatus(ArenaSaid):
    turn = PlayedTurn()
    state = StateAfterTurn()


def said(message: str, **more: Any) -> dict[str, object]:
    return {"status": "success", "message": message, "timestamp": now(), **more}


def started(talk: ClientTalk) -> dict[str, object]:
    run = _run(talk)
    config = echoed(run.config, slugs_of(run))
    named = {"experimentId": reference(PREFIX, talk.pk), "runId": str(run.pk)}
    return said("Experiment started successfully", **named, config=config)


def stopped(run: Run | None) -> dict[str, object]:
    start, end = (run.started, run.ended) if run else (None, None)
    final = {
        "totalTurns": turns_of(run),
        "conversationLength": _length(run),
        "startTime": _moment(start),
        "endTime": _moment(end),
        "duration": round((end - start).total_seconds() * 1000) if start and end else None,
    }
    return said("Experiment stopped successfully", finalState={**final, **_both_metrics(run)})


def status(talk: ClientTalk | None) -> dict[str, object]:
    run = talk.run if talk else None
    experiment = {
        "experimentId": reference(PREFIX, talk.pk) if talk else None,
        "runId": str(run.pk) if run else None,
        "isRunning": run is not None and run.state in LIVE_STATES,
        "maxTurns": (run.config["max_turns"] or -1) if run else 0,
        "startTime": _moment(run.started) if run else None,
        "endTime": _moment(run.ended) if run else None,
        "progress": _progress(run),
        "conversation": talk_of(run) if run else [],
        "config": echoed(run.config, slugs_of(run)) if run else None,
        "error": (run.error or None) if run else None,
    }
    return {
        "status": "success",
        "timestamp": now(),
        "experiment": {**experiment, **_manual_state(run), **_both_metrics(run)},
    }


def stepped(run: Run, message: str, **more: Any) -> dict[str, object]:
    return said(message, **more, state=_manual_state(run))


def turn(run: Run, number: int) -> dict[str, object]:
    return said(
        "Turn processed successfully",
        turn=turns_of(run),
        newMessages=_messages_of(run, number),
        conversation=talk_of(run),
        isComplete=run.is_over,
        metrics=_both_metrics(run),
    )


def turn_of_status(run: Run, number: int) -> dict[str, object]:
    played = {
        "turnNumber": turns_of(run),
        "messages": _messages_of(run, number),
        "isExperimentComplete": run.is_over,
        "totalMessages": _length(run),
    }
    state = {"isRunning": not run.is_over, "currentTurn": turns_of(run), "progress": _progress(run)}
    return said("Turn processed successfully", turn=played, state={**state, **_both_metrics(run)})


def turns_of(run: Run | None) -> int:
    """How many turns are over."""
    return run.steps.filter(kind="record", purpose="turn_completed").count() if run else 0


def _run(talk: ClientTalk) -> Run:
    if talk.run is None:
        raise LookupError("nothing was begun")
    return talk.run


def _messages_of(run: Run, number: int) -> list[dict[str, Any]]:
    slugs = slugs_of(run)
    rows = run.messages.filter(turn=number, superseded=False).select_related("call").order_by("seq")
    return [message_shape(message, slugs) for message in rows]


def _manual_state(run: Run | None) -> dict[str, Any]:
    pause = run.open_pauses[-1] if run and run.state in LIVE_STATES and run.open_pauses else None
    return {
        "currentTurn": turns_of(run),
        "conversationLength": _length(run),
        "waitingForUser": pause is not None,
        "nextExpectedModel": (pause.seat or None) if pause else None,
        "pauseReason": pause.purpose if pause else "",
    }


def _length(run: Run | None) -> int:
    return run.messages.filter(superseded=False, seat__in=("A", "B")).count() if run else 0


def _both_metrics(run: Run | None) -> dict[str, Any]:
    found = metrics_of(run) if run else {}
    return {f"metrics{seat}": found.get(seat, NO_METRICS) for seat in ("A", "B")}


def _progress(run: Run | None) -> float:
    most = run.config["max_turns"] if run else None
    return turns_of(run) / most * 100 if most else 0.0


def _moment(at: Any) -> str | None:
    return at.isoformat() if at else None
