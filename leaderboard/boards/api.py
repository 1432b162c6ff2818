"""The API of the leaderboard: public where the dataset is, without a token too."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import HasScope
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.shapes import shape
from experiments.models import Board
from experiments.runs.upstreams import MixedSerializer
from experiments.workflows.coding.pages.rated import JudgeRow, SetterRow, Solver
from experiments.workflows.coding.pages.serializers import FigureOfCycles
from leaderboard.boards import (
    combining,
    compute,
    contamination,
    corrections,
    downloads,
    influence,
    listing,
    matchmaking,
    milestones,
    style,
    tables,
    upstreams,
)
from leaderboard.boards.standings import Excluded, Row
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


SolverSerializer = shape(
    "Solver",
    Solver,
    doc="""
    compatible: sequential Elo; change: in the last cycle; reverse: with the order of contestants reversed. elo:
    batch Elo. rating, lower, upper: Bradley-Terry with its 95 % interval; reason: why there is none. mean: its score.
    """,
    mean=FigureOfCycles(),
    passed=FigureOfCycles(),
)
SetterSerializer = shape(
    "Setter",
    SetterRow,
    doc="""
    calibration: 0 to 1; by_others: without the setter's own votes. overall: mean score of its problems, 0 to 10.
    passed: share of tests that the other solvers passed. void: how often it set nothing that could be played.
    """,
    calibration=FigureOfCycles(),
    by_others=FigureOfCycles(),
    overall=FigureOfCycles(),
    passed=FigureOfCycles(),
)
JudgeOfCyclesSerializer = shape(
    "JudgeOfCycles",
    JudgeRow,
    doc="""
    severity: points less than the other judges gave to the same solutions. consensus: correlation with their mean;
    passed: with the share of tests passed. missing: judgments that were not given or could not be read.
    """,
    mean=FigureOfCycles(),
    spread=FigureOfCycles(),
    severity=FigureOfCycles(),
    consensus=FigureOfCycles(),
    consensus_ranks=FigureOfCycles(),
    passed=FigureOfCycles(),
)


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


class JudgeSerializer(serializers.Serializer[Any]):
    """kind: "model", "people" or "imported"."""

    kind = serializers.CharField()
    name = serializers.CharField()
    prompt = serializers.CharField()
    prompt_version = serializers.CharField()


class LadderSerializer(serializers.Serializer[Any]):
    """dataset: its slug, null for a board of runs. withdrawn_reason: why it shows no ratings any more, else empty."""

    slug = serializers.CharField()
    title = serializers.CharField()
    workflow = serializers.CharField()
    dataset = serializers.CharField(allow_null=True)
    judge = JudgeSerializer(allow_null=True)
    withdrawn_reason = serializers.CharField()
    battles = serializers.IntegerField()
    computed = serializers.DateTimeField()


StandingRow = shape(
    "StandingRow",
    Row,
    doc="""
    rating, lower, upper: Elo with its 95 % interval; reason: why there is no rank, or no rating either. A contestant
    that won (lost) every battle has no rating, a one-sided 97.5 % bound in lower (upper), and a rank. best, worst: the
    rank's interval. first: the probability of being the strongest. win_rate: ties half. consistency: judged alike in
    both orders.
    """,
)
ExcludedRow = shape("ExcludedRow", Excluded)


class IntervalMethod(serializers.Serializer[Any]):
    """method: "cluster_robust", where the battles of one sample (ballots of one question, votes of one cycle) are one
    observation, or "bootstrap" with its rounds and seed.
    """

    method = serializers.CharField()
    rounds = serializers.IntegerField()
    seed = serializers.IntegerField()


CovariateSerializer = shape("StyleCovariate", style.Covariate)
AdjustedSerializer = shape("AdjustedRating", style.Adjusted)
StyleSerializer = shape(
    "StyleControl",
    style.StyleControl,
    doc="""
    Ratings with style held equal, beside the plain ones. covariates: effect in Elo for one standard deviation (unit) of
    the relative difference, with its 95 % interval; moves: by how much the rating of the contestant `moved` would move
    if this one were ignored. battles: how many this rests on, of all. reason: why there is no adjusted rating.
    """,
    covariates=CovariateSerializer(many=True),
    rows=AdjustedSerializer(many=True),
)


CombinedSerializer = shape(
    "CombinedRatings",
    combining.Combined,
    doc="""
    Ratings of people and judges in one fit, beside the plain ones. method: "pooled", where each verdict counts as
    `weight` votes, or "corrected", where the ratings are those of people, and `weight` (0 to 1) of what verdicts say of
    samples without a vote is used. sources: the boards, and what each of their battles counts as. votes, verdicts:
    battles of people and of judges; both: votes on outputs that a judge has compared, too. reason: why there is none.
    """,
    sources=shape("CombinedSource", combining.Source)(many=True),
    rows=AdjustedSerializer(many=True),
)


UnseenSerializer = shape(
    "UnseenRatings",
    contamination.Unseen,
    doc="""
    Ratings from samples alone that were not public before either contestant was released, beside the plain ones and on
    their scale. moves: by how much a rating is higher than on all samples, with its 95 % interval. battles: on unseen
    samples; seen: on samples public before; unknown: without a date of the sample or of a contestant; together `of`.
    undated: how many of the `samples` have no date, the first 200 by name. reason: why nobody is rated.
    """,
    rows=shape("UnseenRating", contamination.UnseenRow)(many=True),
)


DependenceSerializer = shape(
    "BoardDependence",
    influence.Dependence,
    doc="""
    How far a whole board depends on single prompts, or voters (`on`), of which there are `units`. first: without how
    many of them, each by itself, another contestant is first; ranks: without how many any rank changes. name: whose
    rank, or else rating, changes most without one of them: from `before` to `after`, by `moves` Elo.
    """,
)


CorrectionSerializer = shape(
    "BoardCorrection",
    corrections.Correction,
    doc="""
    A contestant that was withdrawn from the ratings, reinstated, renamed from `before`, or registered (`what`), newest
    first. changed: which fields of the register. by: empty without a sign-in.
    """,
)


MatchmakingSerializer = shape(
    "Matchmaking",
    matchmaking.Matchmaking,
    doc="""
    How battles were chosen. rules: the plans of the campaigns; "votes" of people here, "imported" battles. least, most:
    the smallest and the largest share of the battles that a contestant is in, 0 to 1. Null for boards of runs.
    """,
    rules=shape("MatchmakingRule", matchmaking.Rule)(many=True),
)


class LadderDetail(LadderSerializer):
    """style: null unless `control` was asked for; combined: null unless `combine` was; unseen: null unless it was.

    behind: how often the board has changed since this was computed. components: groups that no battle links.
    contest: the further boards of a coding contest, null for others. period: first and last day, as
    `2026-11-01..2026-11-30`; periods: months in which battles were decided, newest first.
    """

    subset = serializers.CharField()
    category = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # a field with the name of a Field attribute
    language = serializers.CharField()
    period = serializers.CharField()
    subsets = serializers.ListField(child=serializers.CharField())
    categories = serializers.ListField(child=serializers.CharField())
    sources = serializers.ListField(child=serializers.CharField())
    languages = serializers.ListField(child=serializers.CharField())
    periods = serializers.ListField(child=serializers.CharField())
    behind = serializers.IntegerField()
    intervals = IntervalMethod()
    ties = serializers.IntegerField()
    both_bad = serializers.IntegerField()
    consistency = serializers.FloatField(allow_null=True)
    components = serializers.IntegerField()
    rows = StandingRow(many=True)
    excluded = ExcludedRow(many=True)
    contest = ContestSerializer(allow_null=True)
    style = StyleSerializer(allow_null=True)
    combined = CombinedSerializer(allow_null=True)
    unseen = UnseenSerializer(allow_null=True)
    dependence = DependenceSerializer(many=True)
    corrections = CorrectionSerializer(many=True)
    matchmaking = MatchmakingSerializer(allow_null=True)
    upstreams = MixedSerializer(many=True)


PublishedRating = shape("PublishedRating", milestones.Estimate)


class MilestoneSerializer(serializers.ModelSerializer[Milestone]):
    """A board as it was published, never changed afterwards. version and date: the parts of its name. battles: how many
    it rests on. ratings: Elo with its 95 % interval, as published.
    """

    version = serializers.CharField()
    date = serializers.DateField(source="dated")
    ratings = serializers.SerializerMethodField()

    class Meta:
        model = Milestone
        fields = ["name", "version", "date", "taken", "battles", "note", "ratings"]

    @extend_schema_field(PublishedRating(many=True))
    def get_ratings(self, milestone: Milestone) -> Any:
        return PublishedRating(milestones.published(milestone), many=True).data


class PointSerializer(serializers.ModelSerializer[RatingPoint]):
    """What a contestant was rated at a time. lower, upper: the 95 % interval, in Elo; null where it had no bound."""

    class Meta:
        model = RatingPoint
        fields = ["at", "occasion", "name", "rating", "lower", "upper", "battles"]


class TakeMilestone(serializers.Serializer[Any]):
    """name: words and a date, "release_20260131"."""

    name = serializers.CharField(max_length=110)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=1000)


CellSerializer = shape("MatrixCell", tables.Cell, doc="win_rate: 0 to 1, ties half.")


class MatrixLineSerializer(serializers.Serializer[Any]):
    """cells: against each contestant in the same order; null where the two never met."""

    name = serializers.CharField(source="row.name")
    cells = serializers.ListField(child=CellSerializer(allow_null=True))


class MatrixSerializer(serializers.Serializer[Any]):
    """of: how many contestants there are in all."""

    of = serializers.IntegerField()
    lines = MatrixLineSerializer(many=True)


class SliceBattles(serializers.Serializer[Any]):
    value = serializers.CharField()
    battles = serializers.IntegerField()


class SlicedRow(serializers.Serializer[Any]):
    """slices: by value; null where the contestant has no battle."""

    whole = StandingRow()
    slices = serializers.DictField(child=StandingRow(allow_null=True))


class SlicedSerializer(serializers.Serializer[Any]):
    """by: what the board is sliced by, null where there is nothing to slice by. of: how many values there are; shown
    are the first twelve, fewer of long periods.
    """

    by = serializers.CharField(allow_null=True)
    of = serializers.IntegerField()
    battles = SliceBattles(many=True)
    rows = SlicedRow(many=True)


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
        ladder = get_object_or_404(listing.visible_ladders(request.user), slug=slug)
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
        ladder, _board = ladder_with_board(request, slug)
        current = compute.current(ladder, tables.read_choice(request.GET).of)
        found = tables.pair_matrix(ladder, current, whole=bool(request.GET.get("all")))
        return Response(MatrixSerializer(found).data)


class LadderSlices(APIView):
    """Contestants by subset, category, source, language or period: each on the whole board and in each slice."""

    permission_classes = [HasScope]

    @extend_schema(parameters=[BY], responses={200: SlicedSerializer, **PROBLEMS})
    def get(self, request: Request, slug: str) -> Response:
        found = tables.by_slices(ladder_with_board(request, slug)[0], request.GET.get("by", ""))
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
        ladder, _board = ladder_with_board(request, slug)
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


def ladder_with_board(request: Request, slug: str) -> tuple[Ladder, Board]:
    """Raises Http404 also for a ladder of runs, and for one that is withdrawn."""
    ladder = get_object_or_404(listing.visible_ladders(request.user), slug=slug)
    if ladder.board is None or ladder.withdrawn_reason:
        raise Http404
    return ladder, ladder.board


def _shown(request: Request, slug: str) -> Ladder | None:
    """None for a withdrawn ladder. Raises Http404 for one that the person may not see."""
    ladder = get_object_or_404(Ladder.objects.visible_to(request.user), slug=slug)
    return None if ladder.withdrawn_reason else ladder
