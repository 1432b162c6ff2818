"""The API of the leaderboard: public where the dataset is, without a token too."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import HasScope
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.runs.upstreams import MixedSerializer
from leaderboard.boards import (
    compute,
    corrections,
    downloads,
    listing,
    matchmaking,
    milestones,
    style,
    tables,
    upstreams,
)
from leaderboard.boards.serializers import (
    CorrectionSerializer,
    LadderDetail,
    LadderSerializer,
    MatchmakingSerializer,
    MatrixSerializer,
    MilestoneSerializer,
    PointSerializer,
    SlicedSerializer,
    TakeMilestone,
)
from leaderboard.models import Ladder, Milestone, RatingPoint

SLICE = [
    OpenApiParameter("subset", str, description="Only battles on samples of this subset."),
    OpenApiParameter("category", str, description="Only battles on samples of this category."),
    OpenApiParameter("source", str, description="Only battles on samples whose prompts come from this source."),
    OpenApiParameter("language", str, description="Only battles on samples in this language."),
    OpenApiParameter(
        "period",
        str,
        description="Only battles decided in a month (`2026-11`), on some days (`2026-01-15..2026-02-28`; either may "
        "be missing) or on the last days (`30d`), in UTC.",
    ),
    OpenApiParameter(
        "control",
        str,
        description="Also ratings adjusted for style: `style` for all features, `length`, `markdown`, `position`, or "
        f"some of {', '.join(style.COVARIATES)} with commas between them.",
    ),
    OpenApiParameter(
        "combine",
        str,
        description="Also ratings of people and judges together: a number, as how many votes one verdict counts, or "
        "`corrected` for ratings of people that verdicts make more precise.",
    ),
    OpenApiParameter("unseen", bool, description="Also ratings from unseen samples alone."),
    OpenApiParameter("intervals", str, enum=["bootstrap"], description="Intervals of resamples, with a fixed seed."),
]
WHOLE = OpenApiParameter("all", bool, description="All contestants, and not only the first forty.")
BY = OpenApiParameter("by", str, enum=list(tables.FACETS), description="The first that has several values if omitted.")
WITHDRAWN: dict[str, Any] = {"rows": [], "excluded": [], "contest": None, "dependence": [], "upstreams": []}


class LadderList(generics.ListAPIView[Ladder]):
    """Boards that you can see, newest first."""

    permission_classes = [HasScope]
    serializer_class = LadderSerializer
    queryset = Ladder.objects.none()

    def get_queryset(self) -> QuerySet[Ladder]:
        return listing.visible_ladders(self.request.user).defer("standing__data")

    @extend_schema(responses={200: LadderSerializer(many=True), **PROBLEMS})
    def get(self, request: Request) -> Response:
        entries = map(listing.entry, self.paginate_queryset(self.get_queryset()) or [])
        rows = [
            {**downloads.summary(one.ladder), "battles": one.battles, "computed": one.updated.isoformat()}
            for one in entries
        ]
        return self.get_paginated_response(rows)


class LadderView(APIView):
    """The ratings of a board. A withdrawn board has no rows, and gives the reason."""

    permission_classes = [HasScope]

    @extend_schema(parameters=SLICE, responses={200: LadderDetail, **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        ladder = listing.ladder_of(request.user, slug)
        chosen = tables.read_choice(request.GET)
        current = compute.current(ladder, chosen.of, bootstrapped=chosen.bootstrapped)
        further = tables.Further()
        if not ladder.withdrawn_reason:
            beside = listing.others_of_dataset(request.user, ladder) if chosen.combination else []
            further = tables.further(ladder, beside, chosen)
        found = downloads.document(ladder, current, further)
        log = corrections.corrections(ladder.board, request.user) if ladder.board else []
        chosen_by = matchmaking.matchmaking(ladder.board, current.standings.rows) if ladder.board else None
        found["matchmaking"] = MatchmakingSerializer(chosen_by).data if chosen_by else None
        found["corrections"] = CorrectionSerializer(log, many=True).data
        found["upstreams"] = MixedSerializer(upstreams.upstreams(ladder.board) if ladder.board else (), many=True).data
        return Response({**found, **WITHDRAWN} if ladder.withdrawn_reason else found)


class LadderMatrix(APIView):
    """How often each contestant beat each other one, in the order of the board."""

    permission_classes = [HasScope]

    @extend_schema(parameters=[*SLICE[:5], WHOLE], responses={200: MatrixSerializer, **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        ladder, _board = listing.ladder_with_board(request.user, slug)
        current = compute.current(ladder, tables.read_choice(request.GET).of)
        found = tables.pair_matrix(ladder, current, whole=bool(request.GET.get("all")))
        return Response(MatrixSerializer(found).data)


class LadderSlices(APIView):
    """Contestants by subset, category, source, language or period: each on the whole board and in each slice."""

    permission_classes = [HasScope]

    @extend_schema(parameters=[BY], responses={200: SlicedSerializer, **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        found = tables.by_slices(listing.ladder_with_board(request.user, slug)[0], request.GET.get("by", ""))
        if found is None:
            return Response(SlicedSerializer({"by": None, "of": 0, "battles": [], "rows": []}).data)
        rows = [{"whole": line.row, "slices": dict(line.cells)} for line in found.lines]
        battles = [{"value": value, "battles": count} for value, count in found.battles]
        told = {"by": found.facet.name, "of": found.of, "battles": battles, "rows": rows}
        return Response(SlicedSerializer(told).data)


class LadderMilestones(generics.ListAPIView[Milestone]):
    """The milestones of a board, newest first, with the ratings as published. A withdrawn board shows none."""

    permission_classes = [HasScope]
    scope = Scope.REVIEW
    serializer_class = MilestoneSerializer
    queryset = Milestone.objects.none()

    def get_queryset(self) -> QuerySet[Milestone]:
        ladder = _shown(self.request, self.kwargs["slug"])
        version, date = (self.request.GET.get(name, "").replace("\0", "") for name in ("version", "date"))
        return milestones.listed(ladder, version=version, date=date) if ladder else self.queryset

    @extend_schema(
        parameters=[
            OpenApiParameter("version", str, description="Only milestones whose names begin with this."),
            OpenApiParameter("date", str, description="Only milestones of this date, as 2026-01-31 or 20260131."),
        ],
        responses={200: MilestoneSerializer(many=True), **PROBLEMS},
        operation_id="ladders_milestones",
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        request=TakeMilestone,
        responses={201: MilestoneSerializer, **PROBLEMS},
        operation_id="ladders_milestones_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Publish the board as it is now, for good."""
        ladder, _board = listing.ladder_with_board(request.user, slug)
        taken = milestones.take(ladder, by=person(request), **validated(TakeMilestone, request))
        return Response(MilestoneSerializer(taken).data, status=201)


class LadderHistory(generics.ListAPIView[RatingPoint]):
    """What each contestant was rated whenever the board was computed, newest first. A withdrawn board shows nothing."""

    permission_classes = [HasScope]
    serializer_class = PointSerializer
    queryset = RatingPoint.objects.none()

    def get_queryset(self) -> QuerySet[RatingPoint]:
        ladder = _shown(self.request, self.kwargs["slug"])
        names = [name.replace("\0", "") for name in self.request.GET.getlist("name")]
        points = ladder.points.all() if ladder else self.queryset
        return points.filter(name__in=names) if names else points

    @extend_schema(
        parameters=[OpenApiParameter("name", str, many=True, description="Only these contestants.")],
        responses={200: PointSerializer(many=True), **PROBLEMS},
        operation_id="ladders_history",
    )
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


def _shown(request: Request, slug: str) -> Ladder | None:
    """None for a withdrawn ladder. Raises Http404 for one that the person may not see."""
    ladder = get_object_or_404(Ladder.objects.visible_to(request.user), slug=slug)
    return None if ladder.withdrawn_reason else ladder
