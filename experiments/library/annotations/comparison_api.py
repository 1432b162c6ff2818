"""The API of runs side by side, and of starting from what was set up before."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import CastField, ExperimentSerializer, RunSerializer
from experiments.library.annotations import cloning, comparison
from experiments.models import Experiment
from experiments.runs.comparison import Cell

RUN = OpenApiParameter("run", str, many=True, required=True, description="The ids of 2 to 4 runs.")


class SettingSerializer(serializers.Serializer[Any]):
    """values: one for each run, null where it has no such setting."""

    name = serializers.CharField()
    values = serializers.ListField(child=serializers.JSONField(allow_null=True))


class NumbersSerializer(serializers.Serializer[Any]):
    subject = serializers.CharField()
    measures = serializers.DictField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        help_text="Of each measure one value for each run, null where there is none.",
    )


class PieceSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    change = serializers.ChoiceField(["", "gone", "new"])


class CellSerializer(serializers.Serializer[Any]):
    """pieces: the text beside that of the first run; empty where it is the same, or pieces would not help."""

    message = serializers.UUIDField(source="said.id")
    text = serializers.CharField(allow_blank=True, source="said.text")
    pieces = PieceSerializer(many=True)
    is_too_long = serializers.BooleanField(help_text="Not compared word by word.")

    def to_representation(self, cell: Cell) -> Any:
        return super().to_representation(cell) if cell.said else None


class RowSerializer(serializers.Serializer[Any]):
    turn = serializers.IntegerField()
    seat = serializers.CharField()
    kind = serializers.ChoiceField(["same", "close", "different", "partial"])
    cells = serializers.ListField(child=CellSerializer(allow_null=True))


class ComparisonSerializer(serializers.Serializer[Any]):
    """shared: how many messages from the beginning are the same in all. left_out, shortened, uncompared: how many
    messages are not shown, not shown whole, and not compared word by word, because there are too many or too long ones.
    """

    runs = RunSerializer(many=True)
    settings = SettingSerializer(
        source="found.settings", many=True, help_text="Those that are not the same in all runs."
    )
    numbers = NumbersSerializer(many=True)
    rows = RowSerializer(source="found.comparison.rows", many=True)
    shared = serializers.IntegerField(source="found.comparison.shared")
    shared_turns = serializers.IntegerField(source="found.comparison.shared_turns")
    left_out = serializers.IntegerField(source="found.left_out")
    shortened = serializers.IntegerField(source="found.shortened")
    uncompared = serializers.IntegerField(source="found.comparison.uncompared")


class CloneExperiment(serializers.Serializer[Any]):
    """What is to be otherwise. cast: seats as a whole; null leaves one to the lab's usual model."""

    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    config = serializers.DictField(required=False, default=dict)
    cast = CastField(child=serializers.DictField(allow_null=True, allow_empty=True), required=False, default=dict)
    project = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The id of one you are a member of; its members see it."
    )


class CompareView(APIView):
    """Compare two to four runs: differences in settings, results and messages."""

    @extend_schema(parameters=[RUN], responses={200: ComparisonSerializer, **PROBLEMS}, operation_id="runs_compare")
    def get(self, request: Request) -> Response:
        runs = comparison.chosen(request.user, request.query_params.getlist("run"))
        found = comparison.of(runs)
        numbers = [
            {
                "subject": subject,
                "measures": {name: [one.measures[name] for one in values] for name in values[0].measures},
            }
            for subject, values in found.numbers.items()
        ]
        return Response(ComparisonSerializer({"found": found, "runs": runs, "numbers": numbers}).data)


class CloneView(APIView):
    scope = Scope.WRITE

    @extend_schema(
        request=CloneExperiment,
        responses={201: ExperimentSerializer, **PROBLEMS},
        operation_id="experiment_clone",
    )
    def post(self, request: Request, pk: UUID) -> Response:
        """Copy an experiment that you can see into a draft of your own. Nothing is started."""
        shown = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
        asked = validated(CloneExperiment, request)
        made = cloning.clone(shown, by=person(request), **asked)
        return Response(ExperimentSerializer(made).data, status=201)
