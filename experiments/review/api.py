"""The API of reviews: queues, the next item, answers, agreement."""

from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Project
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.models import ReviewAnswer, ReviewItem, ReviewQueue, ReviewRubric, ReviewSlot
from experiments.review import agreement, answers, queues, rubrics, showing, slots
from experiments.review.agreement_views import readable
from experiments.review.content import Content, Correction, Remark
from experiments.review.serializers import (
    AnswerSerializer,
    AskedAnswer,
    AskedQueue,
    ItemLine,
    ItemSerializer,
    QueueSerializer,
    Reason,
    ReportSerializer,
)

REFUSED = {**PROBLEMS, 403: ProblemSerializer}
RIVALLED = {**REFUSED, 409: ProblemSerializer}


def queues_with_counts() -> QuerySet[ReviewQueue]:
    """Counted in subqueries: joins of two kinds of rows would multiply them."""
    slots_of = ReviewSlot.objects.filter(item__queue=OuterRef("pk")).order_by()
    items_of = ReviewItem.objects.filter(queue=OuterRef("pk")).order_by().values("queue")
    counted = slots_of.values("item__queue")
    rows = ReviewQueue.objects.select_related("owner", "rubric").prefetch_related("members__user")
    return rows.annotate(
        item_count=_count(items_of.annotate(n=Count("pk"))),
        places=_count(counted.annotate(n=Count("pk"))),
        answers=_count(counted.annotate(n=Count("answer"))),
    )


class QueuesView(generics.ListAPIView[ReviewQueue]):
    """The queues that one reviews in or looks after, the newest first."""

    scope = Scope.REVIEW
    serializer_class = QueueSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[ReviewQueue]:
        rows = queues_with_counts()
        return rows.none() if getattr(self, "swagger_fake_view", False) else rows.visible_to(self.request.user)  # type: ignore[attr-defined]  # signed in: the permission was asked before

    @extend_schema(responses={200: QueueSerializer(many=True), **PROBLEMS})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(request=AskedQueue, responses={201: QueueSerializer, **REFUSED})
    def post(self, request: Request) -> Response:
        """Make a queue, which is filled at once."""
        asked, user = validated(AskedQueue, request), person(request)
        rubrics.ensure_builtin()
        rubric = ReviewRubric.objects.visible_to(user).filter(pk=asked.pop("rubric")).first()
        if rubric is None:
            raise ValidationError({"rubric": ["There is no such rubric."]})
        wanted = asked.pop("project")
        project = Project.objects.visible_to(user).filter(pk=wanted).first() if wanted else None
        if wanted and project is None:
            raise ValidationError({"project": ["There is no such project."]})
        made = queues.make(by=user, rubric=rubric, project=project, **asked)
        return Response(QueueSerializer(queues_with_counts().get(pk=made.pk)).data, status=201)


class QueueView(APIView):
    @extend_schema(responses={200: QueueSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """A queue: what it is over, its rubric, and how far it is."""
        return Response(QueueSerializer(queue_shown(request, pk)).data)


@extend_schema(responses={200: ItemLine(many=True), **PROBLEMS})
class ItemsView(generics.ListAPIView[ReviewItem]):
    """The items of a queue, in their order."""

    serializer_class = ItemLine
    cursor_ordering = ["number"]

    def get_queryset(self) -> QuerySet[ReviewItem]:
        if getattr(self, "swagger_fake_view", False):
            return ReviewItem.objects.none()
        shown = queue_shown(self.request, self.kwargs["pk"])
        mine = ReviewSlot.objects.answered().filter(item=OuterRef("pk"), holder_id=self.request.user.pk)
        rows = ReviewItem.objects.visible_to(self.request.user).filter(queue=shown)
        return rows.annotate(answer_count=Count("slots__answer"), mine=Exists(mine))


@extend_schema(responses={200: AnswerSerializer(many=True), **PROBLEMS})
class AnswersView(generics.ListAPIView[ReviewAnswer]):
    """Every version of one's own answers in a queue; for those who look after it, everybody's."""

    serializer_class = AnswerSerializer
    cursor_ordering = ["id"]

    def get_queryset(self) -> QuerySet[ReviewAnswer]:
        if getattr(self, "swagger_fake_view", False):
            return ReviewAnswer.objects.none()
        shown = queue_shown(self.request, self.kwargs["pk"])
        rows = ReviewAnswer.objects.visible_to(self.request.user).filter(item__queue=shown)
        return rows.select_related("author").prefetch_related("comments", "corrections")


class NextView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: ItemSerializer, 204: None, **RIVALLED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Hold the item that comes next. 204 when nothing is left."""
        shown = queue_shown(request, pk)
        item = slots.next_item(shown, by=person(request))
        return Response(item_shown(item, request)) if item else Response(status=204)


class UndoView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: ItemSerializer, 204: None, **RIVALLED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Take back the answer that was sent last, and hold its item again. 204 when there is none."""
        shown = queue_shown(request, pk)
        item = slots.undo(shown, by=person(request))
        return Response(item_shown(item, request)) if item else Response(status=204)


class AgreementView(APIView):
    @extend_schema(responses={200: ReportSerializer, **REFUSED})
    def get(self, request: Request, pk: UUID) -> Response:
        """How far people agree with each other and with the judge. A figure that does not exist says why."""
        return Response(ReportSerializer(agreement.of(readable(request, pk))).data)


class ItemView(APIView):
    @extend_schema(responses={200: ItemSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """What is to be reviewed. In a blind queue neither models nor judgments before one has answered and asked."""
        return Response(item_shown(visible_item(request, pk), request))


class ClaimView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: ItemSerializer, **RIVALLED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Hold this item, or hold it longer. 409 when every place at it is somebody else's."""
        item = visible_item(request, pk)
        slots.claim(item, by=person(request))
        return Response(item_shown(item, request))


class ReleaseView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=None, responses={204: None, **REFUSED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Give it back."""
        slots.release(visible_item(request, pk), by=person(request))
        return Response(status=204)


class SkipView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=Reason, responses={204: None, **REFUSED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Pass it over, with the reason: it is not offered again."""
        item, asked = visible_item(request, pk), validated(Reason, request)
        slots.skip(item, by=person(request), reason=asked["reason"])
        return Response(status=204)


class AnswerView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=AskedAnswer, responses={200: AnswerSerializer, **RIVALLED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Send an answer, or a new version of it. The same again changes nothing; 409 when there is no place."""
        item, asked = visible_item(request, pk), validated(AskedAnswer, request)
        answer = answers.submit(item, _content(asked), by=person(request))
        return Response(AnswerSerializer(answer).data)


def queue_shown(request: Request, pk: UUID) -> ReviewQueue:
    seen = ReviewQueue.objects.visible_to(request.user).filter(pk=pk)
    if not seen.exists():
        raise Http404
    return queues_with_counts().get(pk=pk)


def visible_item(request: Request, pk: UUID) -> ReviewItem:
    rows = ReviewItem.objects.visible_to(request.user)
    return get_object_or_404(rows.select_related("queue__rubric", "run__experiment", "message", "judgment"), pk=pk)


def _count(rows: QuerySet[Any, Any]) -> Coalesce:
    return Coalesce(Subquery(rows.values("n"), output_field=IntegerField()), 0)


def _content(asked: dict[str, Any]) -> Content:
    return Content(
        scores=asked["scores"],
        unsaid=asked["unsaid"],
        labels=asked["labels"],
        note=asked["note"].strip(),
        flags=tuple(dict.fromkeys(asked["flags"])),
        remarks=tuple(Remark(**one) for one in asked["comments"]),
        corrections=tuple(Correction(**one) for one in asked["corrections"]),
    )


def item_shown(item: ReviewItem, request: Request) -> dict[str, object]:
    page = showing.page_of(item, person(request))
    held = page.slot if page.slot and not page.is_answered else None
    data = {
        "id": item.pk,
        "queue": item.queue_id,
        "number": item.number,
        "held_until": held.until if held else None,
        "messages": [_message(one) for one in (*page.before, *page.shown)],
        "judgments": None if page.hides else [one.judgment for one in page.judgments],
        "answer": page.slot.answer if page.slot else None,
    }
    return dict(ItemSerializer(data).data)


def _message(said: showing.Utterance) -> dict[str, Any]:
    message = said.message
    about = {"id": message.pk, "turn": message.turn, "seat": message.seat, "model": said.model or None}
    return {**about, "text": message.text, "flags": said.flags, "is_subject": said.is_subject}
