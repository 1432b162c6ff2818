"""What an experiment is set up with: the workflows that are installed, and the models of the lab."""

from typing import Any

from django.db.models import Q, QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import CastField, ProviderModelSerializer
from experiments.api.shapes import shape
from experiments.lab.catalog import unlisted
from experiments.models import Provider, ProviderModel
from experiments.runs import actions
from experiments.setup import estimates
from experiments.setup.casting import checked_cast, checked_config, is_person
from experiments.workflows import REGISTRY, surface_of


class WorkflowSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="What an experiment names as its `workflow`.")
    name = serializers.CharField()
    description = serializers.CharField()
    seats = serializers.ListField(child=serializers.CharField(), help_text="All models that a cast can name.")
    subjects = serializers.ListField(child=serializers.CharField(), help_text="The seats that a judge scores.")
    config = serializers.DictField(help_text="The JSON schema of an experiment's `config`.")


class WorkflowsView(APIView):
    @extend_schema(operation_id="workflows_list", responses=WorkflowSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The workflows in the order of the navigation, in your language."""
        rows = [
            {
                "slug": slug,
                "name": str(surface_of(slug).name),
                "description": str(surface_of(slug).description),
                "seats": workflow.seats,
                "subjects": workflow.subjects,
                "config": workflow.config.model_json_schema(),
            }
            for slug, workflow in REGISTRY.items()
        ]
        return Response(WorkflowSerializer(rows, many=True).data)


class EstimateRequest(serializers.Serializer[Any]):
    """As for a new experiment, whose title and project change nothing. repeats: how many runs."""

    workflow = serializers.CharField()
    title = serializers.CharField(required=False, allow_blank=True)
    project = serializers.CharField(required=False, allow_blank=True)
    config = serializers.DictField()
    cast = CastField()
    repeats = serializers.IntegerField(required=False, default=1, min_value=1, max_value=actions.MOST_REPEATS)


AmountsSerializer = shape("EstimatedAmounts", estimates.Amounts)
EstimateSerializer = shape(
    "RunEstimate",
    estimates.Estimate,
    doc="""
    Of all runs: cost in US dollars, null where a model has no price (`unpriced`); seconds of one run, without waiting
    for people. is_per_turn: the run has no last turn, and these are of its first. assumed, lead, note, warnings: in
    words, in your language.
    """,
    typical=AmountsSerializer(),
    most=AmountsSerializer(),
    assumed=str,
    lead=list[str],
    note=str,
    warnings=list[str],
)


class EstimateView(APIView):
    """What an experiment would come to, typically and at most. Nothing is created."""

    scope = Scope.WRITE

    @extend_schema(request=EstimateRequest, responses={200: EstimateSerializer, **PROBLEMS})
    def post(self, request: Request) -> Response:
        asked, by = validated(EstimateRequest, request), person(request)
        config = checked_config(asked["workflow"], asked["config"])
        seated = checked_cast(asked["workflow"], config, asked["cast"], owner=by)
        people = [seat for seat, one in asked["cast"].items() if is_person(one)]
        found = estimates.estimate(asked["workflow"], config, seated, by=by, runs=asked["repeats"], people=people)
        return Response(EstimateSerializer(found).data)


class ModelFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    available = filters.BooleanFilter(method="filter_available", help_text="Only models that you can use now.")

    class Meta:
        model = ProviderModel
        fields: list[str] = []

    def filter_available(self, models: QuerySet[ProviderModel], name: str, value: bool) -> QuerySet[ProviderModel]:
        askable = Q(pk__in=ProviderModel.objects.askable(self.request.user).values("pk"))
        return models.filter(askable if value else ~askable)


@extend_schema(responses={200: ProviderModelSerializer(many=True), **PROBLEMS})
class ModelList(generics.ListAPIView[ProviderModel]):
    """The lab's models. Which of them are available depends on your keys."""

    queryset = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
    serializer_class = ProviderModelSerializer
    filterset_class = ModelFilter
    cursor_ordering = ["slug"]

    def get_serializer_context(self) -> dict[str, object]:
        keyless = set(Provider.objects.lacking_key(self.request.user))
        return {**super().get_serializer_context(), "keyless": keyless}
