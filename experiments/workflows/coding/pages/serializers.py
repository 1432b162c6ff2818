"""Cycles, executions and figures as the API and the exports show them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.models import Cycle, Execution
from experiments.workflows.coding.pages.cycles import passed

NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}


class SeatedSerializer(serializers.Serializer[Any]):
    seat = serializers.CharField()
    model = serializers.CharField()


class CycleSerializer(serializers.ModelSerializer[Cycle]):
    """state: open, rated, or void with its `reason`. counts: whether ratings rest on it; one that an administrator left
    out has a `void_reason`. By seat: votes (solver, then judge), means, passed (share of tests), unrated (why a solver
    has no score, which is not a score of 0). overall: mean of the means, 0 to 10.
    """

    run = serializers.UUIDField(source="run_id")
    contestants = serializers.SerializerMethodField()
    counts = serializers.SerializerMethodField()
    quorum = serializers.SerializerMethodField()
    votes = serializers.SerializerMethodField()
    means = serializers.SerializerMethodField()
    overall = serializers.SerializerMethodField()
    passed = serializers.SerializerMethodField()
    unrated = serializers.SerializerMethodField()
    voided_by = serializers.CharField(source="voided_by.username", allow_null=True, default=None, read_only=True)

    class Meta:
        model = Cycle
        fields = [
            *("id", "run", "turn", "setter", "state", "reason", "title", "contestants", "counts", "quorum"),
            *("votes", "means", "overall", "passed", "unrated"),
            *("void_reason", "voided", "voided_by", "began", "ended"),
        ]

    @extend_schema_field(SeatedSerializer(many=True))
    def get_contestants(self, cycle: Cycle) -> list[dict[str, str]]:
        return [{"seat": seat, "model": slug} for seat, slug in cycle.contestants]

    def get_counts(self, cycle: Cycle) -> bool:
        return cycle.state == Cycle.State.RATED and cycle.voided is None

    @extend_schema_field({"type": ["integer", "null"]})
    def get_quorum(self, cycle: Cycle) -> Any:
        return cycle.found.get("quorum")

    @extend_schema_field({"type": "object", "additionalProperties": NUMBERS})
    def get_votes(self, cycle: Cycle) -> Any:
        return cycle.found.get("votes", {})

    @extend_schema_field(NUMBERS)
    def get_means(self, cycle: Cycle) -> Any:
        return cycle.found.get("means", {})

    @extend_schema_field({"type": ["number", "null"]})
    def get_overall(self, cycle: Cycle) -> Any:
        return cycle.found.get("overall")

    @extend_schema_field(NUMBERS)
    def get_passed(self, cycle: Cycle) -> Any:
        return cycle.found.get("passed", {})

    @extend_schema_field(TEXTS)
    def get_unrated(self, cycle: Cycle) -> Any:
        return cycle.found.get("unrated", {})


class ExecutionSerializer(serializers.ModelSerializer[Execution]):
    """purpose: "execution" of a solution, or "check" of a problem before it is used. results: by test a verdict
    (passed, failed, error, timeout, memory, output_limit, not_run) with the value; null while nothing was run.
    is_unsafe: it was run without isolation.
    """

    key = serializers.CharField(source="step.key")
    purpose = serializers.CharField(source="step.purpose")
    passed = serializers.SerializerMethodField()
    tests = serializers.JSONField()

    class Meta:
        model = Execution
        fields = [
            *("id", "key", "purpose", "turn", "seat", "state", "language", "code", "entry", "comparison", "tests"),
            *("seconds_limit", "memory_limit", "results", "passed", "complaint", "backend", "layers", "is_unsafe"),
            *("seconds", "error_kind", "error", "created", "ended"),
        ]

    def get_passed(self, execution: Execution) -> int | None:
        return passed(execution)


class FigureOfCycles(serializers.Serializer[Any]):
    """value: null with the reason why there is none. low, high: the 95 % interval, or `no_interval` says why there is
    none. units: how many it rests on; cycles: from how many cycles.
    """

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    no_interval = serializers.CharField(allow_blank=True)
    units = serializers.IntegerField()
    cycles = serializers.IntegerField()
