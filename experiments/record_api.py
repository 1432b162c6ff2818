"""The API of what was recorded in a run: messages, judgments, ballots, calls, events."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError

from experiments.api_requests import PROBLEMS
from experiments.models import Ballot, Call, Event, Judgment, Message, Run
from experiments.serializers import (
    BallotSerializer,
    CallSerializer,
    EventSerializer,
    JudgmentSerializer,
    MessageSerializer,
)

AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class OfRun(generics.ListAPIView[Any]):
    """Rows of one run that the asking person may see."""

    def of_run(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        if not Run.objects.visible_to(self.request.user).filter(pk=self.kwargs["pk"]).exists():
            raise Http404
        return rows.filter(run_id=self.kwargs["pk"])


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

    serializer_class = BallotSerializer
    cursor_ordering = ["turn", "count", "id"]

    def get_queryset(self) -> QuerySet[Ballot]:
        return self.of_run(Ballot.objects.all())


@extend_schema(responses={200: CallSerializer(many=True), **PROBLEMS})
class CallList(OfRun):
    """Every attempt at a provider: what was sent, what came back, what it cost."""

    serializer_class = CallSerializer
    cursor_ordering = ["id"]

    def get_queryset(self) -> QuerySet[Call]:
        return self.of_run(Call.objects.select_related("step", "model__provider"))


@extend_schema(parameters=[AFTER], responses={200: EventSerializer(many=True), **PROBLEMS})
class EventList(OfRun):
    """The numbered facts of a run: the same envelopes that the WebSocket sends."""

    serializer_class = EventSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Event]:
        after = self.request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 18:
            raise ValidationError({"after": ["A whole number is needed."]})
        return self.of_run(Event.objects.filter(seq__gt=int(after)))
