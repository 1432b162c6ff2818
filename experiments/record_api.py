"""The API of what was recorded in a run: messages, judgments, ballots, calls, events."""

import hashlib
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.utils.http import parse_etags
from django.utils.translation import get_language
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from experiments.api_requests import PROBLEMS
from experiments.models import Ballot, Call, Event, Judgment, Message, Run
from experiments.models.run import LIVE_STATES
from experiments.serializers import (
    BallotSerializer,
    CallSerializer,
    EventSerializer,
    JudgmentSerializer,
    MessageSerializer,
)

AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class OfRun(generics.ListAPIView[Any]):
    """Rows of one run that the asking person may see. is_settled: nothing changes them once the run has ended."""

    is_settled = False

    def of_run(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        if not Run.objects.visible_to(self.request.user).filter(pk=self.kwargs["pk"]).exists():
            raise Http404
        return rows.filter(run_id=self.kwargs["pk"])

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Of a run that has ended it is known without looking at its rows whether they are as they were."""
        tag = self._tag(request) if self.is_settled else ""
        if tag and tag in parse_etags(request.headers.get("If-None-Match", "")):
            return Response(status=304, headers={"ETag": tag})
        response = super().list(request, *args, **kwargs)
        if tag:
            response["ETag"] = tag
        return response

    def _tag(self, request: Request) -> str:
        """Empty while the run is played. What rows look like is part of it: another release may show them otherwise."""
        ended = Run.objects.visible_to(request.user).exclude(state__in=LIVE_STATES).filter(pk=self.kwargs["pk"])
        state = ended.values_list("state", "last_seq", "ended").first()
        if state is None:
            return ""
        told = (*state, request.get_full_path(), get_language(), *getattr(self.get_serializer(), "fields", ()))
        return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


@extend_schema(responses={200: MessageSerializer(many=True), **PROBLEMS})
class MessageList(OfRun):
    """What was said, in order."""

    serializer_class = MessageSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Message]:
        return self.of_run(Message.objects.select_related("call", "step"))


@extend_schema(responses={200: JudgmentSerializer(many=True), **PROBLEMS})
class JudgmentList(OfRun):
    """What the judge found, by turn and side. A score that was not given is absent, with the reason."""

    serializer_class = JudgmentSerializer
    cursor_ordering = ["turn", "id"]

    def get_queryset(self) -> QuerySet[Judgment]:
        return self.of_run(Judgment.objects.all())


@extend_schema(responses={200: BallotSerializer(many=True), **PROBLEMS})
class BallotList(OfRun):
    """How the members of a council ranked the answers, by turn. An abstention has no order, and says why."""

    is_settled = True
    serializer_class = BallotSerializer
    cursor_ordering = ["turn", "count", "id"]

    def get_queryset(self) -> QuerySet[Ballot]:
        return self.of_run(Ballot.objects.all())


@extend_schema(responses={200: CallSerializer(many=True), **PROBLEMS})
class CallList(OfRun):
    """Every attempt at a provider: what was sent, what came back, what it cost."""

    is_settled = True
    serializer_class = CallSerializer
    cursor_ordering = ["id"]

    def get_queryset(self) -> QuerySet[Call]:
        return self.of_run(Call.objects.select_related("step", "model__provider"))


@extend_schema(parameters=[AFTER], responses={200: EventSerializer(many=True), **PROBLEMS})
class EventList(OfRun):
    """The numbered facts of a run: the same envelopes that the WebSocket sends."""

    is_settled = True
    serializer_class = EventSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Event]:
        after = self.request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 18:
            raise ValidationError({"after": ["A whole number is needed."]})
        return self.of_run(Event.objects.filter(seq__gt=int(after)))
