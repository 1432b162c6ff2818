"""The API of cycles: what was set, solved, executed and judged; and which of them count in ratings."""

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.attachments import streamed, to_be_saved
from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, RIVALLED, person, validated
from experiments.api.serializers import JudgmentSerializer
from experiments.models import Cycle, Execution, Run
from experiments.runs.reports.document import file_name
from experiments.runs.run_api import OfRun
from experiments.workflows.coding import WORKFLOW
from experiments.workflows.coding.pages import files, ratings, voiding
from experiments.workflows.coding.pages.cycles import Contents, contents
from experiments.workflows.coding.pages.serializers import CycleSerializer, ExecutionSerializer


class SolutionSerializer(serializers.Serializer[Any]):
    """code null: there is none, and `reason` says why. message: the answer that it was read from."""

    seat = serializers.CharField()
    model = serializers.CharField()
    message = serializers.UUIDField(allow_null=True)
    code = serializers.CharField(allow_null=True)
    explanation = serializers.CharField(allow_null=True)
    flags = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_blank=True)


class AfterSerializer(serializers.Serializer[Any]):
    """By model: the compatible board and the batch Elo after the cycle, of this run's cycles alone."""

    compatible = serializers.DictField(child=serializers.FloatField())
    changes = serializers.DictField(child=serializers.FloatField())
    elo = serializers.DictField(child=serializers.FloatField())
    calibration = serializers.FloatField(allow_null=True)


class DeedSerializer(serializers.Serializer[Any]):
    """An exclusion of the cycle, or its reversal."""

    is_void = serializers.BooleanField()
    by = serializers.CharField()
    reason = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class CycleDetail(CycleSerializer):
    problem = serializers.SerializerMethodField()
    solutions = serializers.SerializerMethodField()
    executions = serializers.SerializerMethodField()
    judgments = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField()
    deeds = serializers.SerializerMethodField()

    class Meta(CycleSerializer.Meta):
        fields = [*CycleSerializer.Meta.fields, "problem", "solutions", "executions", "judgments", "after", "deeds"]

    @property
    def record(self) -> Contents:
        found: Contents = self.context["record"]
        return found

    @extend_schema_field({"type": ["object", "null"], "description": "As the setter gave it, with what was checked."})
    def get_problem(self, cycle: Cycle) -> Any:
        return self.record.set_problem

    @extend_schema_field(SolutionSerializer(many=True))
    def get_solutions(self, cycle: Cycle) -> Any:
        found = []
        for seat, slug in cycle.contestants:
            solution, message = self.record.solution(seat) or {}, self.record.solutions.get(seat)
            one = {name: solution.get(name) for name in ("code", "explanation")}
            one |= {"seat": seat, "model": slug, "message": message and message.pk}
            one |= {"flags": message.flags if message else [], "reason": "" if solution else self.record.unrated(seat)}
            found.append(one)
        return SolutionSerializer(found, many=True).data

    @extend_schema_field(ExecutionSerializer(many=True))
    def get_executions(self, cycle: Cycle) -> Any:
        return ExecutionSerializer([*self.record.checks, *self.record.executions.values()], many=True).data

    @extend_schema_field(JudgmentSerializer(many=True))
    def get_judgments(self, cycle: Cycle) -> Any:
        return JudgmentSerializer([one for found in self.record.judgments.values() for one in found], many=True).data

    @extend_schema_field(AfterSerializer(allow_null=True))
    def get_after(self, cycle: Cycle) -> Any:
        moment = ratings.moment_of(cycle)
        return AfterSerializer(moment).data if moment else None

    @extend_schema_field(DeedSerializer(many=True))
    def get_deeds(self, cycle: Cycle) -> Any:
        return DeedSerializer(voiding.deeds([cycle]).get(cycle.pk, []), many=True).data


class Voiding(serializers.Serializer[Any]):
    """reason: shown on the board."""

    reason = serializers.CharField(max_length=voiding.LONGEST_REASON)


@extend_schema(responses={200: CycleSerializer(many=True), **PROBLEMS})
class CycleList(OfRun):
    """The cycles of a coding contest in order: problems, votes, and the reason of each missing rating."""

    queryset = Cycle.objects.select_related("voided_by")
    serializer_class = CycleSerializer
    cursor_ordering = ["turn"]


@extend_schema(responses={200: ExecutionSerializer(many=True), **PROBLEMS})
class ExecutionList(OfRun):
    """What the sandbox ran: checks of problems, and solutions, each with a verdict on every test."""

    queryset = Execution.objects.select_related("step")
    serializer_class = ExecutionSerializer
    cursor_ordering = ["id"]


class ArtifactsView(APIView):
    """A zip with every cycle so far, in MatrixArena's layout."""

    @extend_schema(
        responses={(200, "application/zip"): OpenApiTypes.BINARY, **PROBLEMS}, operation_id="runs_artifacts_retrieve"
    )
    def get(self, request: Request, pk: UUID) -> StreamingHttpResponse:
        runs = Run.objects.visible_to(request.user).select_related("experiment")
        run = get_object_or_404(runs, pk=pk, experiment__workflow=WORKFLOW.slug)
        return to_be_saved(streamed(request._request, files.zipped(run)), "application/zip", file_name(run, "zip"))


class CycleView(APIView):
    """A cycle with its problem, solutions, executions, judgments and the ratings after it."""

    @extend_schema(responses={200: CycleDetail, **PROBLEMS})
    def get(self, request: Request, pk: UUID, turn: int) -> Response:
        rows = Cycle.objects.visible_to(request.user).select_related("run", "voided_by")
        cycle = get_object_or_404(rows, run=pk, turn=turn)
        return Response(CycleDetail(cycle, context={"record": contents(cycle)}).data)


class VoidView(APIView):
    """Exclude a cycle; ratings are computed again without it. For curators and administrators."""

    scope = Scope.REVIEW

    @extend_schema(request=Voiding, responses={200: CycleSerializer, **RIVALLED})
    def post(self, request: Request, pk: int) -> Response:
        cycle, asked = _cycle(request, pk), validated(Voiding, request)
        is_done = voiding.void(cycle, by=person(request), reason=asked["reason"])
        if not is_done:
            raise Conflict(_("The cycle was already left out."))
        return _now(cycle)


class RestoreView(APIView):
    """Include an excluded cycle again. Earlier actions stay in the record."""

    scope = Scope.REVIEW

    @extend_schema(request=None, responses={200: CycleSerializer, **RIVALLED})
    def post(self, request: Request, pk: int) -> Response:
        cycle = _cycle(request, pk)
        is_done = voiding.restore(cycle, by=person(request))
        if not is_done:
            raise Conflict(_("The cycle is not left out."))
        return _now(cycle)


def _cycle(request: Request, pk: int) -> Cycle:
    """Who decides what counts finds every cycle, everybody else those of their own runs."""
    rows = Cycle.objects.all() if voiding.may_void(person(request)) else Cycle.objects.visible_to(person(request))
    return get_object_or_404(rows, pk=pk)


def _now(cycle: Cycle) -> Response:
    return Response(CycleSerializer(Cycle.objects.select_related("voided_by").get(pk=cycle.pk)).data)


urlpatterns = [
    path("runs/<uuid:pk>/cycles/", CycleList.as_view(), name="api-cycles"),
    path("runs/<uuid:pk>/cycles/<int:turn>/", CycleView.as_view(), name="api-cycle"),
    path("runs/<uuid:pk>/artifacts/", ArtifactsView.as_view(), name="api-run-artifacts"),
    path("runs/<uuid:pk>/executions/", ExecutionList.as_view(), name="api-executions"),
    path("cycles/<int:pk>/void/", VoidView.as_view(), name="api-cycle-void"),
    path("cycles/<int:pk>/restore/", RestoreView.as_view(), name="api-cycle-restore"),
]
