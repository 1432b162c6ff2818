"""The API of the review desk: the runs on which curators decide, one of them to be read, and the decision."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet, prefetch_related_objects
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import JudgmentSerializer, MessageSerializer
from experiments.models import Run, RunReview
from experiments.review import curation, desk
from experiments.review.curation_api import CurationAsked, CurationSerializer
from experiments.review.forms import DeskForm

ASKED = [
    OpenApiParameter("show", str, enum=list(desk.LISTS), description="Which list; to_approve by default."),
    *(OpenApiParameter(name, str) for name in ("search", "workflow", "owner", "project", "flag")),
    OpenApiParameter("disagreement", str, enum=["0.25", "0.5", "0.75"], description="Share of a measure's range."),
]
PAGE = OpenApiParameter("page", int, description="Page of the transcript, from 1.")


class DeskRunSerializer(serializers.ModelSerializer[Run]):
    title = serializers.CharField(source="experiment.title")
    workflow = serializers.CharField(source="experiment.workflow")
    owner = serializers.CharField(source="experiment.owner.username")
    curation = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = ["id", "experiment", "title", "workflow", "owner", "state", "created", "ended", "curation"]

    @extend_schema_field(CurationSerializer)
    def get_curation(self, run: Run) -> Any:
        return CurationSerializer(getattr(run, "review", None) or RunReview(run=run)).data


class DeskTranscript(serializers.Serializer[Any]):
    """A page of a run: its messages with reasoning and filter, and judgments of their turns."""

    run = DeskRunSerializer()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    messages = MessageSerializer(many=True)
    judgments = JudgmentSerializer(many=True)


class DeskViewSet(GenericViewSet[Run]):
    """404 for others than curators and administrators."""

    scope = Scope.REVIEW
    queryset = Run.objects.none()
    serializer_class = DeskRunSerializer
    cursor_ordering = ["-created", "-id"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not curation.may_curate(request.user):
            raise NotFound

    @extend_schema(parameters=ASKED, responses={200: DeskRunSerializer(many=True), **PROBLEMS})
    def list(self, request: Request) -> Response:
        """Runs at the review desk, newest first. An administrator's search of all runs is on the audit log."""
        user = person(request)
        form = DeskForm({"show": desk.TO_APPROVE, **request.query_params.dict()}, user=user)
        if not form.is_valid():
            raise ValidationError({name: [str(one) for one in said] for name, said in form.errors.items()})
        found = _rows(desk.asked_for(form.cleaned_data, user))
        return self.get_paginated_response(DeskRunSerializer(self.paginate_queryset(found) or [], many=True).data)

    @extend_schema(parameters=[PAGE], responses={200: DeskTranscript, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """Read a run. Reading one that is not shared with you is on the audit log."""
        user = person(request)
        run = get_object_or_404(_rows(Run.objects.readable_at_desk(user)), pk=pk)
        desk.note_reading(run, by=user)
        read = desk.transcript(run, request.query_params.get("page"))
        prefetch_related_objects(list(read.page), "step", "call")
        judgments = [one for entry in read.entries for one in entry.judgments] + read.others
        shown = {"run": run, "page": read.page.number, "pages": read.page.paginator.num_pages}
        return Response(DeskTranscript({**shown, "messages": read.page, "judgments": judgments}).data)

    @extend_schema(request=CurationAsked, responses={200: DeskRunSerializer, **PROBLEMS})
    def decide(self, request: Request, pk: UUID) -> Response:
        """Decide about a run, as `runs/ID/curation/` does, also about a private one that was submitted."""
        run, asked = (
            get_object_or_404(_rows(Run.objects.decidable_by(request.user)), pk=pk),
            validated(CurationAsked, request),
        )
        curation.act(asked["deed"], run, by=person(request), reason=asked["reason"])
        return Response(DeskRunSerializer(_rows(Run.objects.all()).get(pk=pk)).data)


def _rows(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.select_related("experiment__owner", "review")
