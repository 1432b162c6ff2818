"""StarChamber: talks with one model, each known by its id. An answer comes with the request that asked for it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.compatibility import talks
from experiments.api.compatibility.arena import SeatMetrics
from experiments.api.compatibility.messages import message_shape, metrics_of, slugs_of, turns_of
from experiments.api.compatibility.views import (
    KEY_HELP,
    ClientView,
    NotYet,
    ProviderFailed,
    Text,
    described,
    reference,
    referred,
    slug_of,
)
from experiments.api.compatibility.waiting import wait
from experiments.api.requests import idempotency_key, person, validated
from experiments.api.shapes import shape
from experiments.models import LIVE_STATES, ClientTalk, Message, Run, Step
from experiments.runs import actions

STARCHAMBER = ClientTalk.System.STARCHAMBER
PREFIX = "sc"
SEATS = ("researcher", "model")
RESEARCHER = "You"


class ModelChoice(serializers.Serializer[Any]):
    modelId = serializers.CharField(max_length=200)
    modelName = serializers.CharField(required=False, allow_blank=True, allow_null=True)
    apiKey = serializers.CharField(required=False, allow_blank=True, allow_null=True, help_text=KEY_HELP)


class StarChamberStart(serializers.Serializer[Any]):
    model = ModelChoice()
    systemContext = Text(allow_null=True)
    researcherPersona = Text(allow_null=True)
    requestLogprobs = serializers.BooleanField(default=True, allow_null=True)
    firstMessage = serializers.CharField()


class StarChamberTurn(serializers.Serializer[Any]):
    experimentId = serializers.CharField(max_length=100)
    message = serializers.CharField()


class StarChamberStop(serializers.Serializer[Any]):
    experimentId = serializers.CharField(required=False, allow_blank=True, default="", max_length=100)


StarChamberStarted = shape("StarChamberStarted", success=bool, experimentId=str, runId=UUID, message=str)
StarChamberAnswered = shape(
    "StarChamberAnswered", doc="response: what the model answered.", success=bool, message=str, response=dict
)
Success = shape("Success", success=bool)
StarChamberStatus = shape(
    "StarChamberStatus",
    experimentId=str,
    runId=UUID,
    isRunning=bool,
    waitingForResearcher=bool,
    isModelResponding=bool,
    currentTurn=int,
    conversation=list[dict[str, Any]],
    metrics=SeatMetrics(),
    error=str | None,
)


class StartView(ClientView):
    """Start a conversation. The model answers in the background; poll `status`."""

    @described("compat_starchamber_start", StarChamberStart, StarChamberStarted, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(StarChamberStart, request, allow_unknown=True)
        config = {
            "context": asked["systemContext"] or "",
            "persona": asked["researcherPersona"] or RESEARCHER,
            "first_message": asked["firstMessage"],
            "logprobs": asked["requestLogprobs"] is not False,
        }
        cast = {"model": {"model": slug_of(asked["model"]["modelId"], "model.modelId")}}
        key = idempotency_key(request)
        talk = talks.begin(STARCHAMBER, by=person(request), config=config, cast=cast, key=key)
        named = {"experimentId": reference(PREFIX, talk.pk), "runId": str(talk.run_id)}
        return Response({"success": True, **named, "message": "StarChamber experiment started"})


class TurnView(ClientView):
    """Send a message to the model and return its answer."""

    @described("compat_starchamber_turn", StarChamberTurn, StarChamberAnswered, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(StarChamberTurn, request, allow_unknown=True)
        run = _run(request, asked["experimentId"])
        sent = {"action": "send", "text": asked["message"], "key": idempotency_key(request)}
        said = talks.say_at(run, lambda: _pause(run), by=person(request), **sent)
        answer = _answer(request, run, said["seq"])
        shown = _shape(answer, run, slugs_of(run))
        return Response({"success": True, "message": "The model has answered.", "response": shown})


class StopView(ClientView):
    """End a conversation; its messages are kept. Does nothing for an unknown id."""

    scope = Scope.WRITE

    @described("compat_starchamber_stop", StarChamberStop, Success)
    def post(self, request: Request) -> Response:
        talk = _found(request, validated(StarChamberStop, request, allow_unknown=True)["experimentId"])
        if talk and talk.run and talk.run.state in LIVE_STATES:
            actions.stop(talk.run, by=person(request))
        return Response({"success": True})


class StatusView(ClientView):
    """The state of a conversation, for clients without a socket: `?experimentId=`. StarChamber has no such route."""

    @described("compat_starchamber_status", None, StarChamberStatus, parameters=[StarChamberStop])
    def get(self, request: Request) -> Response:
        run = _run(request, request.query_params.get("experimentId", ""))
        waits = bool(run.open_pauses) and run.state in LIVE_STATES
        state = {
            "experimentId": reference(PREFIX, run.client_talk.pk),
            "runId": str(run.pk),
            "isRunning": run.state in LIVE_STATES,
            "waitingForResearcher": waits,
            "isModelResponding": run.state in LIVE_STATES and not waits,
            "currentTurn": turns_of(run),
            "conversation": _conversation(run),
            "metrics": metrics_of(run, ("model",))["model"],
            "error": _trouble(run) or None,
        }
        return Response(state)


def _conversation(run: Run) -> list[dict[str, object]]:
    rows = run.messages.filter(seat__in=SEATS, superseded=False).select_related("call").order_by("seq")
    slugs = slugs_of(run)
    return [_shape(message, run, slugs) for message in rows]


def _shape(message: Message, run: Run, slugs: Mapping[str, str]) -> dict[str, object]:
    """With the fields that StarChamber's own client reads: who speaks, by what name, in which turn."""
    is_model = message.seat == "model"
    named = {"role": message.seat, "turnNumber": message.turn}
    shown = message_shape(message, slugs)
    if is_model:
        return {**shown, **named, "senderName": shown["modelName"]}
    persona = run.experiment.config.get("persona") or RESEARCHER
    return {**shown, **named, "senderName": persona, "modelName": persona}


def _found(request: Request, text: str) -> ClientTalk | None:
    talks_of_theirs = ClientTalk.objects.owned_by(person(request)).filter(system=STARCHAMBER)
    pk = referred(PREFIX, text)
    return talks_of_theirs.filter(pk=pk).select_related("run__experiment").first() if pk else None


def _run(request: Request, text: str) -> Run:
    runs = Run.objects.visible_to(person(request)).select_related("experiment", "client_talk")
    talk = _found(request, text)
    return get_object_or_404(runs, pk=talk.run_id if talk else None)


def _pause(run: Run) -> Step:
    """Where the researcher may speak."""
    if run.is_over:
        raise Conflict(_("This run has ended. Start another one."))
    pauses = run.open_pauses
    if not pauses:
        raise Conflict(_("The model is still answering. Wait until it has finished."))
    return pauses[-1]


def _answer(request: Request, run: Run, seq: int) -> Message:
    """What the model says after event `seq`."""
    said = run.messages.filter(seat="model", seq__gt=seq).select_related("call").order_by("seq")

    def look() -> tuple[Message | None, str] | None:
        fresh = Run.objects.select_related("experiment").get(pk=run.pk)
        answer, trouble = said.first(), _trouble(fresh) or (_("The run was stopped.") if fresh.is_over else "")
        return (answer, trouble) if answer or trouble else None

    found = wait(request, run.pk, look)
    if found is None:
        raise NotYet(_("The model is still answering, and the run continues. Check its status later."))
    answer, trouble = found
    if answer is None:
        raise ProviderFailed(trouble)
    return answer


def _trouble(run: Run) -> str:
    """Why the model gave no answer, where it gave none."""
    pauses = run.open_pauses
    return str(pauses[-1].data.get("error", "")) if pauses else run.error
