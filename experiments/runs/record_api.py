"""The API of what was recorded in a run: messages, judgments, ballots, calls, events."""

import hashlib
from collections.abc import Callable
from functools import cache, cached_property
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

from experiments.api.requests import PROBLEMS
from experiments.api.serializers import (
    BallotSerializer,
    CallSerializer,
    EventSerializer,
    JudgmentSerializer,
    MessageSerializer,
)
from experiments.models import Ballot, Call, Event, Judgment, Message, Run
from experiments.models.run import LIVE_STATES

AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class OfRun(generics.ListAPIView[Any]):
    """Rows of one run that the asking person may see. is_settled: nothing changes them once the run has ended."""

    is_settled = False

    def of_run(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        self.how_it_stands  # noqa: B018 - whoever may not see the run is told so here
        return rows.filter(run_id=self.kwargs["pk"])

    @cached_property
    def how_it_stands(self) -> tuple[Any, ...]:
        """The run's state, last_seq and end, asked for once. Raises Http404 for whoever may not see it."""
        visible = Run.objects.visible_to(self.request.user).filter(pk=self.kwargs["pk"]).order_by()
        found: tuple[Any, ...] | None = visible.values_list("state", "last_seq", "ended").first()
        if found is None:
            raise Http404
        return found

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
        if self.how_it_stands[0] in LIVE_STATES:
            return ""
        shown_by: Any = self.get_serializer_class()
        told = (*self.how_it_stands, request.get_full_path(), get_language(), *_shape(shown_by))
        return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


@cache
def _shape(serializer: Callable[[], Any]) -> tuple[str, ...]:
    """The names of what a row is told with."""
    return tuple(getattr(serializer(), "fields", ()))


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
