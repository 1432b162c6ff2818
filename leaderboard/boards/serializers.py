"""What the API of the leaderboard answers: the values of boards as serializers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from experiments.api.shapes import shape
from experiments.runs.upstreams import MixedSerializer
from experiments.workflows.coding.pages.rated import JudgeRow, SetterRow, Solver
from experiments.workflows.coding.pages.serializers import FigureOfCycles
from leaderboard.boards import combining, contamination, corrections, influence, matchmaking, milestones, style, tables
from leaderboard.boards.standings import Excluded, Row
from leaderboard.models import Milestone, RatingPoint

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
    undated: how many of the `samples` have no date, the first 200 by name. reason: why there are no ratings.
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
