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
from leaderboard.boards import compute, downloads, listing
from leaderboard.boards import tables as page
from leaderboard.boards.coding_api import ContestSerializer
from leaderboard.models import Ladder

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
        ladder, chosen = get_object_or_404(listing.visible_ladders(request.user), slug=slug), page.choice(request.GET)
        current = compute.current(ladder, chosen.subset, chosen.category, bootstrapped=chosen.bootstrapped)
        found = downloads.document(ladder, current)
        return Response({**found, **NOTHING} if ladder.withdrawn_reason else found)


def _listed(ladder: Ladder) -> dict[str, Any]:
    found = listing.entry(ladder)
    return {**downloads.summary(ladder), "battles": found.battles, "computed": found.updated.isoformat()}
