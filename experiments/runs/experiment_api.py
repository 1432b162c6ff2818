"""The HTTP API. Each view fetches with the right to see, validates, calls one verb, answers."""

from typing import Any

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, idempotency_key, person, runs_with_totals, spends, validated
from experiments.api.serializers import ExperimentSerializer, ProviderModelSerializer, RunSerializer
from experiments.lab.catalog import unlisted
from experiments.lab.health import HealthSerializer, health
from experiments.models import Experiment, Provider, ProviderModel
from experiments.runs import actions
from experiments.workflows import REGISTRY


class HealthView(APIView):
    """The state of the database, Redis, the workers and the providers; 503 when one of them is down."""

    permission_classes = [AllowAny]
    authentication_classes = []
    throttle_classes = []

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        report = health()
        response = Response(report, status=200 if report["status"] == "ok" else 503)
        response._has_been_logged = True  # type: ignore[attr-defined]  # who asks for the state is told; the log is not
        return response


class ModelFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    available = filters.BooleanFilter(method="filter_available", help_text="Only models that can be asked now.")

    class Meta:
        model = ProviderModel
        fields: list[str] = []

    def filter_available(self, models: QuerySet[ProviderModel], name: str, value: bool) -> QuerySet[ProviderModel]:
        askable = Q(pk__in=ProviderModel.objects.askable(self.request.user).values("pk"))
        return models.filter(askable if value else ~askable)


@extend_schema(responses={200: ProviderModelSerializer(many=True), **PROBLEMS})
class ModelList(generics.ListAPIView[ProviderModel]):
    """The provider models of the lab. Which are available depends on who asks: some need a key."""

    queryset = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
    serializer_class = ProviderModelSerializer
    filterset_class = ModelFilter
    cursor_ordering = ["slug"]

    def get_serializer_context(self) -> dict[str, Any]:
        keyless = set(Provider.objects.lacking_key(self.request.user))
        return {**super().get_serializer_context(), "keyless": keyless}


class CreateExperiment(serializers.Serializer[Any]):
    """config follows the workflow's schema; cast names a model per seat, the judge and the filter may be left out."""

    workflow = serializers.ChoiceField(list(REGISTRY))
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    config = serializers.DictField()
    cast = serializers.DictField(child=serializers.DictField())
    project = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The id of one you are a member of; its members see it."
    )


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

    scope = Scope.WRITE
    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    lookup_value_converter = "uuid"
    filterset_fields = ["workflow"]

    def get_queryset(self) -> QuerySet[Experiment]:
        return (
            Experiment.objects.visible_to(self.request.user)
            .select_related("owner")
            .prefetch_related("participants__model")
        )

    @extend_schema(request=CreateExperiment, responses={201: ExperimentSerializer, 403: ProblemSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Set an experiment up. Nothing is asked of any model before it is started."""
        asked = validated(CreateExperiment, request)
        experiment = actions.create(owner=person(request), **asked)
        return Response(ExperimentSerializer(experiment).data, status=201)

    @extend_schema(
        request=StartRuns,
        responses={201: StartedRuns, 403: ProblemSerializer, 409: ProblemSerializer, **PROBLEMS},
    )
    @action(detail=True, methods=["post"])
    @spends
    def start(self, request: Request, pk: str) -> Response:
        """Queue runs of an experiment, with successive seeds. Under one key they are started once."""
        experiment = self.get_object()
        asked = validated(StartRuns, request)
        key = idempotency_key(request)
        runs = actions.start(experiment, by=person(request), idempotency_key=key, **asked)
        rows = runs_with_totals().filter(pk__in=[run.pk for run in runs]).order_by("seed")
        return Response({"runs": RunSerializer(rows, many=True).data}, status=201)
