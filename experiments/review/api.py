"""The API of reviews: queues, their items and answers, and rubrics."""

from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.api_requests import project_among
from accounts.models import Project
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, RIVALLED, checked, person, validated
from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue, ReviewRubric, ReviewSlot
from experiments.review import agreement, answers, queues, rubrics, slots
from experiments.review.item_page import ItemPage
from experiments.review.serializers import (
    AnswerSerializer,
    AskedAnswer,
    AskedQueue,
    ChangeQueue,
    FilledSerializer,
    ItemLine,
    ItemSerializer,
    QueueSerializer,
    Reason,
    ReportSerializer,
    RubricSerializer,
    SaveRubric,
)


class QueueViewSet(GenericViewSet[ReviewQueue]):
    scope = Scope.REVIEW
    serializer_class = QueueSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[ReviewQueue]:
        """Counted in subqueries: joins of two kinds of rows would multiply them."""
        places = ReviewSlot.objects.filter(item__queue=OuterRef("pk")).order_by().values("item__queue")
        items = ReviewItem.objects.filter(queue=OuterRef("pk")).order_by().values("queue")
        rows = ReviewQueue.objects.visible_to(self.request.user)
        return (
            rows.select_related("owner", "rubric")
            .prefetch_related("members__user")
            .annotate(
                item_count=_count(items.annotate(n=Count("pk"))),
                places=_count(places.annotate(n=Count("pk"))),
                answers=_count(places.annotate(n=Count("answer"))),
            )
        )

    @extend_schema(responses={200: QueueSerializer(many=True), **PROBLEMS})
    def list(self, request: Request) -> Response:
        """Queues that you review in or manage, newest first."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(QueueSerializer(page or [], many=True).data)

    @extend_schema(request=AskedQueue, responses={201: QueueSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Create a queue and fill it."""
        asked, user = validated(AskedQueue, request), person(request)
        rubric = ReviewRubric.objects.visible_to(user).filter(pk=asked.pop("rubric")).first()
        if rubric is None:
            raise ValidationError({"rubric": ["There is no such rubric."]})
        project = project_among(Project.objects.visible_to(user), asked.pop("project"))
        made = queues.make(by=user, rubric=rubric, project=project, **asked)
        return Response(QueueSerializer(self.get_queryset().get(pk=made.pk)).data, status=201)

    @extend_schema(responses={200: QueueSerializer, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """A queue with its subject, rubric and progress."""
        return Response(QueueSerializer(self.get_object()).data)

    @extend_schema(request=ChangeQueue, responses={200: QueueSerializer, **PROBLEMS})
    def change(self, request: Request, pk: UUID) -> Response:
        """Change a queue's name, people or instructions, or open or close it. Answers are not affected."""
        found, asked, by = self.get_object(), validated(ChangeQueue, request), person(request)
        fields = {name: asked.get(name, getattr(found, name)) for name in ("name", "instructions", "lock_minutes")}
        queues.change(found, by=by, members=asked.get("members"), **fields)
        if "state" in asked:
            queues.set_open(found, by=by, is_open=asked["state"] == ReviewQueue.State.OPEN)
        return Response(QueueSerializer(self.get_object()).data)

    @extend_schema(request=None, responses={200: FilledSerializer, **PROBLEMS})
    def fill(self, request: Request, pk: UUID) -> Response:
        """Add the items that match the queue's filters and are not in it."""
        return Response({"new": queues.fill(self.get_object(), by=person(request))})

    @extend_schema(request=None, responses={200: ItemSerializer, 204: None, **RIVALLED})
    def next(self, request: Request, pk: UUID) -> Response:
        """Claim the next item. 204 when none is left."""
        item = slots.next_item(self.get_object(), by=person(request))
        return _item_shown(item, request) if item else Response(status=204)

    @extend_schema(request=None, responses={200: ItemSerializer, 204: None, **RIVALLED})
    def undo(self, request: Request, pk: UUID) -> Response:
        """Undo your last answer, and claim its item again. 204 when there is none."""
        item = slots.undo(self.get_object(), by=person(request))
        return _item_shown(item, request) if item else Response(status=204)

    @extend_schema(responses={200: ReportSerializer, **PROBLEMS})
    def agreement(self, request: Request, pk: UUID) -> Response:
        """Agreement of reviewers with each other and with the judge. A missing figure has its reason."""
        return Response(ReportSerializer(agreement.of(agreement.readable_queue(request.user, pk))).data)


@extend_schema(responses={200: ItemLine(many=True), **PROBLEMS})
class ItemsView(generics.ListAPIView[ReviewItem]):
    """The items of a queue, in their order."""

    queryset = ReviewItem.objects.none()
    serializer_class = ItemLine
    cursor_ordering = ["number"]

    def get_queryset(self) -> QuerySet[ReviewItem]:
        user = self.request.user
        shown = get_object_or_404(ReviewQueue.objects.visible_to(user), pk=self.kwargs["pk"])
        mine = ReviewSlot.objects.answered().filter(item=OuterRef("pk"), holder_id=user.pk)
        rows = ReviewItem.objects.visible_to(user).filter(queue=shown)
        return rows.annotate(answer_count=Count("slots__answer"), mine=Exists(mine))


@extend_schema(responses={200: AnswerSerializer(many=True), **PROBLEMS})
class AnswersView(generics.ListAPIView[ReviewAnswer]):
    """Every version of your answers in a queue; for its managers, of all answers."""

    queryset = ReviewAnswer.objects.none()
    serializer_class = AnswerSerializer
    cursor_ordering = ["id"]

    def get_queryset(self) -> QuerySet[ReviewAnswer]:
        shown = get_object_or_404(ReviewQueue.objects.visible_to(self.request.user), pk=self.kwargs["pk"])
        rows = ReviewAnswer.objects.visible_to(self.request.user).filter(item__queue=shown)
        return rows.select_related("author").prefetch_related("comments", "corrections")


class ItemViewSet(GenericViewSet[ReviewItem]):
    scope = Scope.REVIEW
    serializer_class = ItemSerializer

    def get_queryset(self) -> QuerySet[ReviewItem]:
        return slots.visible_items(self.request.user)

    @extend_schema(responses={200: ItemSerializer, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """The item to review. In a blind queue, models and judgments are hidden until you have answered and revealed
        them.
        """
        return _item_shown(self.get_object(), request)

    @extend_schema(request=None, responses={200: ItemSerializer, **RIVALLED})
    def claim(self, request: Request, pk: UUID) -> Response:
        """Claim an item, or extend the claim. 409 when other reviewers hold every place."""
        item = self.get_object()
        slots.claim(item, by=person(request))
        return _item_shown(item, request)

    @extend_schema(request=None, responses={204: None, **PROBLEMS})
    def release(self, request: Request, pk: UUID) -> Response:
        """Release a claimed item."""
        slots.release(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(request=Reason, responses={204: None, **PROBLEMS})
    def skip(self, request: Request, pk: UUID) -> Response:
        """Skip an item, with a reason. You are not offered it again."""
        item, asked = self.get_object(), validated(Reason, request)
        slots.skip(item, by=person(request), reason=asked["reason"])
        return Response(status=204)

    @extend_schema(request=None, responses={200: ItemSerializer, **PROBLEMS})
    def reveal(self, request: Request, pk: UUID) -> Response:
        """Reveal the models and judgments of an item that you have answered blind."""
        item = self.get_object()
        slots.reveal(item, by=person(request))
        return _item_shown(item, request)

    @extend_schema(request=AskedAnswer, responses={200: AnswerSerializer, **RIVALLED})
    def answer(self, request: Request, pk: UUID) -> Response:
        """Submit an answer or a new version of it. Repeating changes nothing; 409 when the item has enough answers."""
        item, asked = self.get_object(), checked(AskedAnswer, request)
        return Response(AnswerSerializer(answers.submit(item, asked.content(), by=person(request))).data)


class RubricViewSet(GenericViewSet[ReviewRubric]):
    scope = Scope.WRITE
    serializer_class = RubricSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[ReviewRubric]:
        return ReviewRubric.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: RubricSerializer(many=True), **PROBLEMS})
    def list(self, request: Request) -> Response:
        """Every version of the rubrics that you may use."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(RubricSerializer(page or [], many=True).data)

    @extend_schema(request=SaveRubric, responses={201: RubricSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Save a rubric of your own."""
        made = rubrics.save(owner=person(request), **validated(SaveRubric, request))
        return Response(RubricSerializer(made).data, status=201)

    @extend_schema(responses={200: RubricSerializer, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """One version of a rubric."""
        return Response(RubricSerializer(self.get_object()).data)

    @extend_schema(
        request=SaveRubric,
        responses={201: RubricSerializer, 409: None, **PROBLEMS},
        operation_id="review_rubrics_revise",
    )
    def revise(self, request: Request, pk: UUID) -> Response:
        """Save a new version after this one. 409 when there is one already."""
        made = rubrics.revise(self.get_object(), by=person(request), **validated(SaveRubric, request))
        return Response(RubricSerializer(made).data, status=201)


def _count(rows: QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(rows.values("n"), output_field=IntegerField()), 0)


def _item_shown(item: ReviewItem, request: Request) -> Response:
    page = ItemPage(item, person(request))
    messages = [
        {
            "id": said.message.pk,
            "turn": said.message.turn,
            "seat": said.message.seat,
            "model": said.model or None,
            "text": said.message.text,
            "flags": said.flags,
            "reasoning": said.reasoning,
            "is_subject": said.is_subject,
        }
        for said in (*page.before, *page.shown)
    ]
    data = {
        "id": item.pk,
        "queue": item.queue_id,
        "number": item.number,
        "held_until": page.slot.until if page.slot and not page.is_answered else None,
        "messages": messages,
        "judgments": None if page.hides else [one.judgment for one in page.judgments],
        "answer": page.slot.answer if page.slot else None,
    }
    return Response(ItemSerializer(data).data)
