"""The API of what runs say together, and of which run came from which."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from experiments.api.requests import PROBLEMS
from experiments.api.shapes import shape
from experiments.models import Experiment, Run
from experiments.runs import lineage
from experiments.runs.experiment_views import values_as_csv
from experiments.runs.statistics import rows
from experiments.runs.statistics.estimates import CONFIDENCE, Contrast, Estimate, Share
from experiments.runs.statistics.summary import COLUMNS, SWITCHES, TurnSummary, table

FORMATS = ("json", "csv")
WITH = OpenApiParameter("with", str, many=True, enum=SWITCHES, description="Runs of this kind count too.")
FORMAT = OpenApiParameter("format", str, enum=FORMATS, description="csv: the values of each run, nothing else.")


NO_INTERVAL = ["", "no_value", "one_value"]
EstimateSerializer = shape(
    "Estimate",
    Estimate,
    doc="The mean of n values with its 95 % interval (Student's t). low and high are null when n is below 2.",
    missing=serializers.IntegerField(help_text="Runs without this value: left out, never replaced."),
    no_interval=serializers.ChoiceField(NO_INTERVAL),
)
ShareSerializer = shape("Share", Share, doc="count of n runs, as a share from 0 to 1 with its 95 % interval (Wilson).")
ContrastSerializer = shape(
    "Contrast",
    Contrast,
    doc="The mean of the runs that this subject begins, less that of the others, with its 95 % interval (Welch).",
    first=EstimateSerializer(),
    second=EstimateSerializer(),
    no_interval=serializers.ChoiceField(NO_INTERVAL),
)
TurnSerializer = shape(
    "Turn",
    TurnSummary,
    doc="One turn over all runs that reached it.",
    goal_deviation=EstimateSerializer(),
    cooperation=EstimateSerializer(),
)


class SubjectSerializer(serializers.Serializer[Any]):
    """deviated_in: the first turn above 20 %, of those runs alone that had one."""

    measures = serializers.DictField(child=EstimateSerializer())
    deviated = ShareSerializer()
    deviated_in = EstimateSerializer()
    turns = TurnSerializer(many=True)


class LeftOutSerializer(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    reason = serializers.ChoiceField(["live", *SWITCHES])


class CorrectedSerializer(serializers.Serializer[Any]):
    """The same runs with the scores that people corrected in queues that are closed."""

    scores = serializers.IntegerField(help_text="How many scores were corrected.")
    people = serializers.IntegerField()
    subjects = serializers.DictField(child=SubjectSerializer())
    difference = serializers.DictField(child=EstimateSerializer(), allow_null=True)


class StatisticsSerializer(serializers.Serializer[Any]):
    """Each of `values` has the names of the CSV's columns. Missing is null, never a neutral number."""

    experiment = serializers.UUIDField()
    confidence = serializers.FloatField()
    switched_on = serializers.ListField(child=serializers.ChoiceField(SWITCHES))
    counted = serializers.ListField(child=serializers.UUIDField())
    left_out = LeftOutSerializer(many=True)
    subjects = serializers.DictField(child=SubjectSerializer())
    difference = serializers.DictField(
        child=EstimateSerializer(), allow_null=True, help_text="First subject less second, paired by run."
    )
    beginning = serializers.DictField(
        child=serializers.DictField(child=ContrastSerializer()),
        allow_null=True,
        help_text="What beginning does, per subject; null unless who begins alternates.",
    )
    values = serializers.ListField(child=serializers.DictField())
    corrected = CorrectedSerializer(
        allow_null=True, help_text="Beside what the judges gave, never mixed with it; null where nothing was corrected."
    )


class StatisticsView(APIView):
    """What the runs of an experiment say together: means with their intervals, and the value of each run."""

    @extend_schema(
        parameters=[WITH, FORMAT],
        responses={
            (200, "application/json"): StatisticsSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            **PROBLEMS,
        },
    )
    def get(self, request: Request, pk: UUID) -> HttpResponse:
        experiment = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
        switches, format_ = request.query_params.getlist("with"), request.query_params.get("format", "json")
        if unknown := sorted(set(switches) - set(SWITCHES)):
            raise ValidationError({"with": [f"{name} is none of {', '.join(SWITCHES)}." for name in unknown]})
        if format_ not in FORMATS:
            raise ValidationError({"format": ["This format is not offered: ask for json or csv."]})
        found = rows.repeats(experiment, switches, reader=request.user)
        return values_as_csv(found) if format_ == "csv" else Response(StatisticsSerializer(_said(found)).data)


class NodeSerializer(serializers.Serializer[Any]):
    """A run in its family. branched_from, turn and seat: the message at which it left its parent."""

    run = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    experiment = serializers.UUIDField()
    state = serializers.ChoiceField(Run.State.choices)
    origin = serializers.ChoiceField(Run.Origin.choices)
    seed = serializers.IntegerField()
    turns = serializers.IntegerField(help_text="Completed turns.")
    branched_from = serializers.UUIDField(allow_null=True)
    turn = serializers.IntegerField(allow_null=True)
    seat = serializers.CharField()
    edited = serializers.BooleanField(help_text="A person changed that message.")
    by = serializers.CharField(allow_null=True, help_text="Who branched.")
    judged_again = serializers.ListField(child=serializers.UUIDField(), help_text="Runs that judge this one anew.")


class LineageSerializer(serializers.Serializer[Any]):
    """nodes: parents before children, the root first. complete: false when there are too many to list."""

    run = serializers.UUIDField()
    root = serializers.UUIDField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    complete = serializers.BooleanField()
    nodes = NodeSerializer(many=True)


class LineageView(APIView):
    """Which run a run branched from, and which branched from it: its whole family, as far as you may see it."""

    @extend_schema(responses={200: LineageSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        run = get_object_or_404(Run.objects.visible_to(request.user), pk=pk)
        found = lineage.of(run, request.user)
        nodes = [_node(row) for row in found.rows]
        said = {"run": run.pk, "root": nodes[0]["run"], "complete": not found.is_cut, "nodes": nodes}
        return Response(LineageSerializer(said).data)


def _said(found: rows.Repeats) -> dict[str, Any]:
    statistics, corrected = found.statistics, found.corrected
    return {
        "experiment": found.experiment.pk,
        "confidence": CONFIDENCE,
        "switched_on": found.switched_on,
        "counted": [run.pk for run in found.counted],
        "left_out": [{"run": left.run.pk, "reason": left.reason} for left in found.left_out],
        "subjects": statistics.summaries,
        "difference": statistics.difference,
        "beginning": statistics.beginning,
        "values": [dict(zip(COLUMNS, cells, strict=True)) for cells in table(statistics)],
        "corrected": corrected
        and {
            "scores": found.corrections.count,
            "people": found.corrections.people,
            "subjects": corrected.summaries,
            "difference": corrected.difference,
        },
    }


def _node(row: lineage.Row) -> dict[str, Any]:
    run: Any = row.node.run
    branch = row.node.branch
    return {
        "run": run.pk,
        "parent": row.parent.run.pk if row.parent else None,
        "experiment": run.experiment_id,
        "state": run.state,
        "origin": run.origin,
        "seed": run.seed,
        "turns": run.turn or 0,
        "branched_from": branch.message if branch else None,
        "turn": row.node.turn,
        "seat": row.node.seat,
        "edited": row.node.edited,
        "by": branch.by if branch else None,
        "judged_again": [judging.pk for judging in row.node.judged_again],
    }
