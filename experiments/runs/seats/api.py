"""The API of people in seats: what they are asked, their answers, and the end of an invitation."""

import json
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import audit
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, RIVALLED, person, validated
from experiments.models import SeatedPerson
from experiments.runs.seats import turns


class SeatMessage(serializers.Serializer[Any]):
    role = serializers.CharField()
    text = serializers.CharField()


class SeatTurnSerializer(serializers.Serializer[Any]):
    """step: names the question. until: when its time passes. shown: what the seat may see. answer_schema: JSON Schema
    of the answer, null where it is a text.
    """

    step = serializers.IntegerField(source="step.pk")
    run = serializers.UUIDField(source="step.run_id")
    until = serializers.DateTimeField()
    shown = SeatMessage(many=True)
    answer_schema = serializers.JSONField(source="schema", allow_null=True)


class SeatSerializer(serializers.Serializer[Any]):
    """seconds: that each answer may take. expires: of an invitation, else null. turns: what is asked now."""

    id = serializers.UUIDField(source="pk")
    experiment = serializers.UUIDField(source="experiment_id")
    seat = serializers.CharField()
    seconds = serializers.IntegerField()
    is_blind = serializers.BooleanField()
    expires = serializers.DateTimeField(allow_null=True)
    turns = serializers.SerializerMethodField()

    @extend_schema_field(SeatTurnSerializer(many=True))
    def get_turns(self, seated: SeatedPerson) -> Any:
        return SeatTurnSerializer(turns.open_turns(seated), many=True).data


class AnswerSerializer(serializers.Serializer[Any]):
    """answer: a text, or an object that fits `answer_schema`."""

    step = serializers.IntegerField(min_value=1)
    answer = serializers.JSONField()

    def validate_answer(self, said: Any) -> str:
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


class SeatListView(APIView):
    """Your seats in runs that wait for you."""

    pagination_class = None

    @extend_schema(responses={200: SeatSerializer(many=True), **PROBLEMS}, operation_id="seats_list")
    def get(self, request: Request) -> Response:
        asked = {seated.pk: seated for seated, _turn in turns.waiting_for(person(request))}
        return Response(SeatSerializer(asked.values(), many=True).data)


class SeatView(APIView):
    """A seat of yours: what is asked in it now, and an answer."""

    scope = Scope.WRITE

    @extend_schema(responses={200: SeatSerializer, **PROBLEMS}, operation_id="seats_retrieve")
    def get(self, request: Request, pk: UUID) -> Response:
        seated = turns.find_seat(pk, by=person(request))
        if seated.person_id != person(request).pk:
            audit.record(audit.Action.RUN_READ, by=person(request), of=seated.experiment, seat=seated.seat)
        return Response(SeatSerializer(seated).data)

    @extend_schema(request=AnswerSerializer, responses={200: SeatSerializer, **RIVALLED}, operation_id="seats_answer")
    def post(self, request: Request, pk: UUID) -> Response:
        """Answer a question once; the run goes on. 409 when it was answered already, or its time has passed."""
        seated, said = turns.find_seat(pk, by=person(request)), validated(AnswerSerializer, request)
        turns.answer(seated, by=person(request), step_id=said["step"], text=said["answer"])
        return Response(SeatSerializer(seated).data)


class RevokeSeatView(APIView):
    """End an invitation."""

    scope = Scope.WRITE

    @extend_schema(request=None, responses={204: None, **RIVALLED}, operation_id="seats_revoke")
    def post(self, request: Request, pk: UUID) -> Response:
        """Its link opens nothing from now on. The run goes on without the person once the time of a turn has passed."""
        turns.revoke(pk, by=person(request))
        return Response(status=204)
