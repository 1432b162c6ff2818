"""The HTTP API. Each view fetches with the right to see, validates, calls one verb, answers."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ParseError, PermissionDenied, ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from experiments import actions, metrics
from experiments.casting import InvalidExperiment
from experiments.health import HealthSerializer, health
from experiments.models import Call, Event, Experiment, Judgment, Message, Provider, ProviderModel, Run
from experiments.problems import Conflict, ProblemSerializer
from experiments.reports.document import document
from experiments.serializers import (
    CallSerializer,
    EventSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    ProviderModelSerializer,
    RunSerializer,
)
from experiments.workflows import REGISTRY

PROBLEMS = {400: ProblemSerializer, 401: ProblemSerializer, 404: ProblemSerializer}
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="A repetition with the same key starts nothing new."
)
AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class HealthView(APIView):
    """The state of the database, Redis, the workers and the providers; 503 when one of them is down."""

    permission_classes = [AllowAny]
    authentication_classes = []

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        report = health()
        response = Response(report, status=200 if report["status"] == "ok" else 503)
        response._has_been_logged = True  # type: ignore[attr-defined]  # who asks for the state is told; the log is not
        return response


class ModelFilter(filters.FilterSet):  # type: ignore[misc]
    available = filters.BooleanFilter(method="filter_available", help_text="Only models that can be asked now.")

    class Meta:
        model = ProviderModel
        fields: list[str] = []

    def filter_available(self, models: QuerySet[ProviderModel], name: str, value: bool) -> QuerySet[ProviderModel]:
        keyless = [provider.pk for provider in Provider.objects.all() if provider.lacks_key]
        on = Q(is_active=True, provider__is_active=True) & ~Q(provider__in=keyless)
        return models.filter(on if value else ~on)


@extend_schema(responses={200: ProviderModelSerializer(many=True), **PROBLEMS})
class ModelList(generics.ListAPIView[ProviderModel]):
    """The provider models of the lab."""

    queryset = ProviderModel.objects.select_related("provider")
    serializer_class = ProviderModelSerializer
    filterset_class = ModelFilter
    cursor_ordering = ["slug"]


class CreateExperiment(serializers.Serializer[Any]):
    """config follows the workflow's schema; cast names a model per seat, the judge and the filter may be left out."""

    workflow = serializers.ChoiceField(list(REGISTRY))
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    config = serializers.DictField()
    cast = serializers.DictField(child=serializers.DictField())


class StartRuns(serializers.Serializer[Any]):
    seed = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=2**53)
    repeats = serializers.IntegerField(required=False, default=1, min_value=1, max_value=actions.MOST_REPEATS)


class StartedRuns(serializers.Serializer[Any]):
    runs = RunSerializer(many=True)


@extend_schema_view(
    list=extend_schema(responses={200: ExperimentSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: ExperimentSerializer, **PROBLEMS}),
)
class ExperimentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Experiment]):
    """Experiments of yours. They do not change once created: create another one instead."""

    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    lookup_value_converter = "uuid"
    filterset_fields = ["workflow"]

    def get_queryset(self) -> QuerySet[Experiment]:
        return Experiment.objects.visible_to(self.request.user).prefetch_related("participants__model")

    @extend_schema(request=CreateExperiment, responses={201: ExperimentSerializer, 403: ProblemSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        asked = _validated(CreateExperiment, request)
        try:
            experiment = actions.create(owner=_person(request), **asked)
        except InvalidExperiment as error:
            raise ValidationError(error.errors) from error
        except actions.NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        return Response(ExperimentSerializer(experiment).data, status=201)

    @extend_schema(
        request=StartRuns,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: StartedRuns, 403: ProblemSerializer, 409: ProblemSerializer, **PROBLEMS},
    )
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        experiment = self.get_object()
        asked = _validated(StartRuns, request)
        key = request.headers.get("Idempotency-Key", "")
        if len(key) > 200 or not key.isprintable():
            raise ValidationError({"Idempotency-Key": ["A key has at most 200 characters, all of them printable."]})
        try:
            runs = actions.start(experiment, by=_person(request), idempotency_key=key, **asked)
        except actions.NotAllowed as error:
            raise PermissionDenied(str(error)) from error
        except actions.KeyReused as error:
            raise Conflict(str(error)) from error
        rows = _runs().filter(pk__in=[run.pk for run in runs]).order_by("seed")
        return Response({"runs": RunSerializer(rows, many=True).data}, status=201)


class RunFilter(filters.FilterSet):  # type: ignore[misc]
    experiment = filters.UUIDFilter(field_name="experiment_id")
    workflow = filters.CharFilter(field_name="experiment__workflow")
    state = filters.ChoiceFilter(choices=Run.State.choices)
    search = filters.CharFilter(field_name="experiment__title", lookup_expr="icontains")

    class Meta:
        model = Run
        fields: list[str] = []


class RunDetail(RunSerializer):
    metrics = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "metrics"]

    def get_metrics(self, run: Run) -> dict[str, Any]:
        return metrics.run_metrics(run, ["A", "B"])


@extend_schema_view(
    list=extend_schema(responses={200: RunSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: RunDetail, **PROBLEMS}),
)
class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """Runs of yours, with what was said and found in them."""

    queryset = Run.objects.none()
    filterset_class = RunFilter
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Run]:
        rows: QuerySet[Run] = _runs().visible_to(self.request.user)
        return rows

    def get_serializer_class(self) -> type[BaseSerializer[Run]]:
        return RunSerializer if self.action == "list" else RunDetail

    @extend_schema(request=None, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop a live run; stopping one that has ended changes nothing."""
        run = self.get_object()
        actions.stop(run, by=_person(request))
        return Response(RunDetail(self.get_object()).data)

    @extend_schema(request=None, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with a failed run from the step that failed."""
        run = self.get_object()
        if not actions.resume(run, by=_person(request)):
            raise Conflict("Only a failed run can be resumed.")
        return Response(RunDetail(self.get_object()).data)

    @extend_schema(
        responses={200: OpenApiTypes.OBJECT, **PROBLEMS}, parameters=[OpenApiParameter("format", str, enum=["json"])]
    )
    @action(detail=True)
    def report(self, request: Request, pk: str) -> Response:
        """The whole record of a run: set-up, transcript, judgments, metrics and calls."""
        if request.query_params.get("format", "json") != "json":
            raise ValidationError({"format": ["This format is not offered: ask for json."]})
        return Response(document(self.get_object()))


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
        return self.of_run(Message.objects.select_related("call"))


@extend_schema(responses={200: JudgmentSerializer(many=True), **PROBLEMS})
class JudgmentList(OfRun):
    """What the judge found, by turn and side. A score that was not given is absent, with the reason."""

    serializer_class = JudgmentSerializer
    cursor_ordering = ["turn", "id"]

    def get_queryset(self) -> QuerySet[Judgment]:
        return self.of_run(Judgment.objects.all())


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


def _runs() -> Any:
    return Run.objects.with_totals().select_related("experiment")


def _validated(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    try:
        checked = serializer(data=request.data)
    except RecursionError as error:
        raise ParseError("The JSON is nested too deeply.") from error
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def _person(request: Request | HttpRequest) -> Any:
    return request.user
