"""The ladder of coding as the API says it: figures with their intervals, boards, and their history by cycle."""

from typing import Any

from rest_framework import serializers

from experiments.workflows.coding.pages.figures_api import FigureOfCycles


class SolverSerializer(serializers.Serializer[Any]):
    """compatible: sequential Elo; change: in the last cycle; reverse: with the order of contestants reversed. elo:
    batch Elo. rating, lower, upper: Bradley-Terry with its 95 % interval; reason: why there is none. mean: its score.
    """

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    is_simulated = serializers.BooleanField()
    compatible = serializers.FloatField()
    change = serializers.FloatField(allow_null=True)
    reverse = serializers.FloatField()
    elo = serializers.FloatField(allow_null=True)
    elo_change = serializers.FloatField(allow_null=True)
    rating = serializers.FloatField(allow_null=True)
    lower = serializers.FloatField(allow_null=True)
    upper = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()
    component = serializers.IntegerField()
    rank = serializers.IntegerField(allow_null=True)
    best = serializers.IntegerField(allow_null=True)
    worst = serializers.IntegerField(allow_null=True)
    group = serializers.IntegerField(allow_null=True)
    first = serializers.FloatField(allow_null=True)
    battles = serializers.IntegerField()
    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()
    mean = FigureOfCycles()
    passed = FigureOfCycles()
    cycles = serializers.IntegerField()
    votes = serializers.IntegerField()
    unrated = serializers.IntegerField()


class SetterSerializer(serializers.Serializer[Any]):
    """calibration: 0 to 1; by_others: without the setter's own votes. overall: mean score of its problems, 0 to 10.
    passed: share of tests that the other solvers passed. void: how often it set nothing that could be played.
    """

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    problems = serializers.IntegerField()
    scored = serializers.IntegerField()
    void = serializers.IntegerField()
    calibration = FigureOfCycles()
    by_others = FigureOfCycles()
    overall = FigureOfCycles()
    passed = FigureOfCycles()


class JudgeOfCyclesSerializer(serializers.Serializer[Any]):
    """severity: points less than the other judges gave to the same solutions. consensus: correlation with their mean;
    passed: with the share of tests passed. missing: judgments that were not given or could not be read.
    """

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    votes = serializers.IntegerField()
    missing = serializers.IntegerField()
    cycles = serializers.IntegerField()
    mean = FigureOfCycles()
    spread = FigureOfCycles()
    severity = FigureOfCycles()
    consensus = FigureOfCycles()
    consensus_ranks = FigureOfCycles()
    passed = FigureOfCycles()


class AfterCycleSerializer(serializers.Serializer[Any]):
    """number: the cycle's place among those that count. means: scores in it; compatible, elo: boards after it."""

    number = serializers.IntegerField()
    setter = serializers.CharField()
    overall = serializers.FloatField(allow_null=True)
    calibration = serializers.FloatField(allow_null=True)
    means = serializers.DictField(child=serializers.FloatField())
    compatible = serializers.DictField(child=serializers.FloatField())
    elo = serializers.DictField(child=serializers.FloatField())


class ContestSerializer(serializers.Serializer[Any]):
    """order_moves: the most that reversing the order of contestants moves a compatible rating. alpha: agreement of the
    judges; tests: correlation of mean votes with tests passed.
    """

    cycles = serializers.IntegerField()
    solvers = SolverSerializer(many=True)
    setters = SetterSerializer(many=True)
    judges = JudgeOfCyclesSerializer(many=True)
    history = AfterCycleSerializer(many=True)
    alpha = FigureOfCycles(required=False)
    tests = FigureOfCycles(required=False)
    order_moves = serializers.FloatField(required=False)
    votes = serializers.IntegerField(required=False)
    solutions = serializers.IntegerField(required=False)
    battles = serializers.IntegerField(required=False)
    ties = serializers.IntegerField(required=False)
    components = serializers.IntegerField(required=False)
