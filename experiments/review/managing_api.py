"""The API of those who look after queues, and of rubrics."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_requests import person, validated
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS
from experiments.models import ReviewQueue, ReviewRubric
from experiments.review import queues, rubrics, slots
from experiments.review.api import item_shown, queue_shown, queues_with_counts, visible_item
from experiments.review.serializers import ItemSerializer, QueueSerializer


class ChangeQueue(serializers.Serializer[Any]):
    """What is left out stays as it is. members: user names, exactly those who review in it from now on."""

    name = serializers.CharField(required=False, max_length=120)
    instructions = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    lock_minutes = serializers.IntegerField(required=False, min_value=1, max_value=1440)
    members = serializers.ListField(child=serializers.CharField(max_length=150), required=False)
    state = serializers.ChoiceField(ReviewQueue.State.choices, required=False)


class FilledSerializer(serializers.Serializer[Any]):
    new = serializers.IntegerField(help_text="How many items were added.")


class RubricSerializer(serializers.ModelSerializer[ReviewRubric]):
    """owner null: it comes with the platform. Versions of one rubric share a family."""

    owner = serializers.CharField(source="owner.username", default=None, allow_null=True, read_only=True)
    scales = serializers.ListField(child=serializers.DictField())
    labels = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = ReviewRubric
        fields = ["id", "family", "version", "owner", "title", "description", "scales", "labels", "shared", "created"]


class SaveRubric(serializers.Serializer[Any]):
    """content: {scales, labels}, in the form in which a rubric is read."""

    title = serializers.CharField(max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)
    content = serializers.DictField()
    shared = serializers.BooleanField(required=False, default=False)


class QueueChangeView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=ChangeQueue, responses={200: QueueSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """Change a queue without touching an answer: its name, people and instructions; open or close it."""
        found, asked, by = queue_shown(request, pk), validated(ChangeQueue, request), person(request)
        queues.require_manager(found, by)
        if "members" in asked:
            queues.assign(found, by=by, members=asked["members"])
        about = {name: asked.get(name, getattr(found, name)) for name in ("name", "instructions", "lock_minutes")}
        queues.change(found, by=by, **about)
        if "state" in asked:
            queues.set_open(found, by=by, is_open=asked["state"] == ReviewQueue.State.OPEN)
        return Response(QueueSerializer(queues_with_counts().get(pk=pk)).data)


class QueueFillView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: FilledSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """Add to a queue what its filters leave and is not in it yet."""
        found = queue_shown(request, pk)
        return Response({"new": queues.fill(found, by=person(request))})


class RevealView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: ItemSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """See the models and the judgments of an item that you have answered blind."""
        item = visible_item(request, pk)
        slots.reveal(item, by=person(request))
        return Response(item_shown(item, request))


class RubricsView(generics.ListAPIView[ReviewRubric]):
    scope = Scope.WRITE
    queryset = ReviewRubric.objects.none()
    serializer_class = RubricSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[ReviewRubric]:
        return ReviewRubric.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: RubricSerializer(many=True), **PROBLEMS})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Every version of the rubrics that you may use."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=SaveRubric, responses={201: RubricSerializer, **PROBLEMS})
    def post(self, request: Request) -> Response:
        """Keep a rubric of your own."""
        made = rubrics.save(owner=person(request), **validated(SaveRubric, request))
        return Response(RubricSerializer(made).data, status=201)


class RubricView(APIView):
    scope = Scope.WRITE

    @extend_schema(responses={200: RubricSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """One version of a rubric."""
        return Response(RubricSerializer(_rubric(request, pk)).data)

    @extend_schema(
        request=SaveRubric,
        responses={201: RubricSerializer, 409: None, **PROBLEMS},
        operation_id="review_rubrics_revise",
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Save a new version after this one. 409 when there is one already."""
        found, asked = _rubric(request, pk), validated(SaveRubric, request)
        made = rubrics.revise(found, by=person(request), **asked)
        return Response(RubricSerializer(made).data, status=201)


def _rubric(request: Request, pk: UUID) -> ReviewRubric:
    return get_object_or_404(ReviewRubric.objects.visible_to(request.user).select_related("owner"), pk=pk)
