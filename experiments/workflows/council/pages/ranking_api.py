"""The API of how a council's answers rank: every method's values and order, and how far the reviewers agree."""

from typing import Any
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.api.requests import PROBLEMS
from experiments.api.shapes import shape
from experiments.models import Run
from experiments.review import curation_api
from experiments.workflows.council.pages.rankings import Figure, Ranking, Standing, ranking_of_turn

TURN = OpenApiParameter("turn", int, description="Of which question; the last one that was ranked when left out.")
GROUPS = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}


@extend_schema_field(GROUPS)
class GroupsField(serializers.Field[Any, Any, Any, Any]):
    """Seats, best first, in groups of equals."""

    def to_representation(self, value: Any) -> list[list[str]]:
        return [list(group) for group in value]


FigureSerializer = shape("Figure", Figure, doc="A number; null with the reason why there is none.")
StandingSerializer = shape(
    "Standing",
    Standing,
    doc="mean_rank: 1 is best. borda: 0 to 1. copeland: majorities won less those lost. bradley_terry: on the scale of"
    "\nElo, mean 1000. self_preference: the place that its author gave it less that which the others did.",
    **{name: FigureSerializer() for name in ("mean_rank", "borda", "copeland", "bradley_terry", "self_preference")},
)


class MethodOrderSerializer(serializers.Serializer[Any]):
    """groups null: the method has no order, and `reason` says why. unplaced: seats that no ballot compares."""

    method = serializers.CharField()
    groups = GroupsField(allow_null=True)
    unplaced = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField(allow_blank=True)


class SaidBySerializer(serializers.Serializer[Any]):
    groups = GroupsField()
    methods = serializers.ListField(child=serializers.CharField())


class PlaceSerializer(serializers.Serializer[Any]):
    place = serializers.IntegerField(help_text="Where an answer was shown, from 1.")
    mean = serializers.FloatField(allow_null=True, help_text="The place that it was given there, on average.")
    n = serializers.IntegerField()


class AbstainedSerializer(serializers.Serializer[Any]):
    reviewer = serializers.CharField()
    reason = serializers.CharField()


class RankingSerializer(serializers.Serializer[Any]):
    """skipped: "", or why nothing was counted: one_answer, no_ballots. best: the leaders by Borda. on_winner, on_order:
    which methods say the same. kendalls_w: 0 to 1; krippendorff_alpha: 1 full agreement, 0 as by chance.
    """

    turn = serializers.IntegerField()
    count = serializers.IntegerField(help_text="How often the answers of this turn were ranked.")
    seats = serializers.ListField(child=serializers.CharField())
    ballots = serializers.IntegerField()
    abstained = serializers.SerializerMethodField()
    own_answers = serializers.CharField()
    skipped = serializers.CharField(allow_blank=True)
    best = serializers.ListField(child=serializers.CharField())
    standings = StandingSerializer(many=True)
    orders = MethodOrderSerializer(many=True)
    agree_on_winner = serializers.BooleanField()
    agree_on_order = serializers.BooleanField()
    on_winner = SaidBySerializer(many=True)
    on_order = SaidBySerializer(many=True)
    kemeny_distance = serializers.FloatField(allow_null=True)
    kemeny_optima = serializers.IntegerField(allow_null=True)
    kendalls_w = FigureSerializer()
    krippendorff_alpha = FigureSerializer()
    position_effect = PlaceSerializer(many=True)

    @extend_schema_field(AbstainedSerializer(many=True))
    def get_abstained(self, found: Ranking) -> list[dict[str, str]]:
        return [{"reviewer": reviewer, "reason": reason} for reviewer, reason in found.abstained]


class RankingView(APIView):
    """The ranking of the answers to one question by each method. 404 when there are no ballots."""

    @extend_schema(parameters=[TURN], responses={(200, "application/json"): RankingSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        run = get_object_or_404(Run.objects.visible_to(request.user), pk=pk)
        found = ranking_of_turn(run, _turn(request))
        if found is None:
            raise Http404
        return Response(RankingSerializer(found).data)


def _turn(request: Request) -> int | None:
    asked = request.query_params.get("turn")
    if asked is None:
        return None
    if not asked.isascii() or not asked.isdigit() or len(asked) > 9:
        raise ValidationError({"turn": ["A whole number is needed."]})
    return int(asked)


urlpatterns = [
    path("council/presets/", curation_api.CouncilPresetsView.as_view(), name="api-council-presets"),
    path("council/presets/<uuid:pk>/", curation_api.CouncilPresetView.as_view(), name="api-council-preset"),
    path("runs/<uuid:pk>/ranking/", RankingView.as_view(), name="api-ranking"),
]
