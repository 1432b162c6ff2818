"""The API of the leaderboard: public where the dataset is, without a token too."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import HasScope
from experiments.api.requests import PROBLEMS
from experiments.workflows.coding.pages.figures_api import FigureOfCycles
from leaderboard.boards import compute, downloads, listing, tables
from leaderboard.models import Ladder


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


SLICE = [
    OpenApiParameter("subset", str, description="Only battles on samples of this subset."),
    OpenApiParameter("category", str, description="Only battles on samples of this category."),
    OpenApiParameter("intervals", str, enum=["bootstrap"], description="Intervals of resamples, with a fixed seed."),
]

NOTHING: dict[str, Any] = {"rows": [], "excluded": [], "contest": None}  # of a ladder that is withdrawn


class JudgeSerializer(serializers.Serializer[Any]):
    """kind: "model", "people" or "imported"."""

    kind = serializers.CharField()
    name = serializers.CharField()
    prompt = serializers.CharField()
    prompt_version = serializers.CharField()


class LadderSerializer(serializers.Serializer[Any]):
    """dataset: its slug, null for a ladder of runs. withdrawn_reason: why it shows no ratings any more, else empty."""

    slug = serializers.CharField()
    title = serializers.CharField()
    workflow = serializers.CharField()
    dataset = serializers.CharField(allow_null=True)
    judge = JudgeSerializer(allow_null=True)
    withdrawn_reason = serializers.CharField()
    battles = serializers.IntegerField()
    computed = serializers.DateTimeField()


class StandingRow(serializers.Serializer[Any]):
    """rating, lower, upper: Elo with its 95 % interval; reason: why there is none. A contestant that won (lost) every
    battle has no rating, a one-sided 97.5 % bound in lower (upper), and a rank. best, worst: the rank's interval.
    first: the probability of being the strongest. win_rate: ties half. consistency: judged alike in both orders.
    """

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    link = serializers.CharField()
    contestant = serializers.IntegerField(allow_null=True)
    version = serializers.CharField()
    is_simulated = serializers.BooleanField()
    component = serializers.IntegerField()
    rating = serializers.FloatField(allow_null=True)
    lower = serializers.FloatField(allow_null=True)
    upper = serializers.FloatField(allow_null=True)
    reason = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True)
    best = serializers.IntegerField(allow_null=True)
    worst = serializers.IntegerField(allow_null=True)
    group = serializers.IntegerField(allow_null=True)
    first = serializers.FloatField(allow_null=True)
    battles = serializers.IntegerField()
    wins = serializers.IntegerField()
    losses = serializers.IntegerField()
    ties = serializers.IntegerField()
    both_bad = serializers.IntegerField()
    win_rate = serializers.FloatField(allow_null=True)
    consistency = serializers.FloatField(allow_null=True)


class ExcludedRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    reason = serializers.CharField()
    battles = serializers.IntegerField()


class IntervalMethod(serializers.Serializer[Any]):
    """method: "sandwich", or "bootstrap" with its rounds and seed."""

    method = serializers.CharField()
    rounds = serializers.IntegerField()
    seed = serializers.IntegerField()


class LadderDetail(LadderSerializer):
    """behind: how often the board has changed since this was computed. components: groups that no battle links.
    contest: all boards of the ladder of coding, null for others.
    """

    subset = serializers.CharField()
    category = serializers.CharField()
    subsets = serializers.ListField(child=serializers.CharField())
    categories = serializers.ListField(child=serializers.CharField())
    behind = serializers.IntegerField()
    intervals = IntervalMethod()
    ties = serializers.IntegerField()
    both_bad = serializers.IntegerField()
    consistency = serializers.FloatField(allow_null=True)
    components = serializers.IntegerField()
    rows = StandingRow(many=True)
    excluded = ExcludedRow(many=True)
    contest = ContestSerializer(allow_null=True)


class LadderList(generics.ListAPIView[Ladder]):
    """The ladders that may be seen, the newest first."""

    permission_classes = [HasScope]
    serializer_class = LadderSerializer
    queryset = Ladder.objects.none()

    def get_queryset(self) -> QuerySet[Ladder]:
        return listing.visible_ladders(self.request.user).defer("standing__data")

    @extend_schema(responses={200: LadderSerializer(many=True), **PROBLEMS})
    def get(self, request: Request) -> Response:
        rows = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response([_listed(ladder) for ladder in rows or []])


class LadderView(APIView):
    """Where everybody stands. A withdrawn ladder has no rows, and says why."""

    permission_classes = [HasScope]

    @extend_schema(parameters=SLICE, responses={200: LadderDetail, **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        ladder, chosen = (
            get_object_or_404(listing.visible_ladders(request.user), slug=slug),
            tables.read_choice(request.GET),
        )
        current = compute.current(ladder, chosen.subset, chosen.category, bootstrapped=chosen.bootstrapped)
        found = downloads.document(ladder, current)
        return Response({**found, **NOTHING} if ladder.withdrawn_reason else found)


def _listed(ladder: Ladder) -> dict[str, Any]:
    found = listing.entry(ladder)
    return {**downloads.summary(ladder), "battles": found.battles, "computed": found.updated.isoformat()}
