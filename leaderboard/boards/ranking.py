"""From the counts of a board's pairs to its rows: intervals, in which battles of one sample are one observation; ranks;
and the reasons where there are none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, QuerySet, Sum, TextField
from django.db.models.sql.compiler import SQLCompiler
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import Battle, Board, Contestant, PairCount, Sample
from experiments.runs import figures
from experiments.workflows.battles.campaign.counting import COLUMNS, COUNTS
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards.caching import memoize
from leaderboard.boards.periods import Period
from leaderboard.boards.standings import SHAPE, WHOLE, Row, Slice, finite, share
from leaderboard.models import Standing
from leaderboard.ratings import Intervals, Ranks, Reason, Table, bootstrap, by_items, ranks, sandwich
from leaderboard.ratings.intervals import NO_SPREAD, Errors, as_wide_as, times_as_wide
from leaderboard.ratings.values import NORMAL, BoolArray, FloatArray, IntArray

MOST_READ = 20_000  # battles while a page waits, in less than a tenth of a second
MOST_COUNTED = 200_000  # battles of a board that are counted by what their samples tell, in about a second
MOST_IN_PERIOD = 500_000  # battles that are counted by their time, which is indexed, likewise
MOST_VALUES = 200  # sources, and languages
MOST_KEPT = 1_000_000  # battles for what is stored for good, in a few seconds
FEWEST = 5  # battles
WIDEST = 400.0  # Elo to one side: odds of ten to one
DRAWS = 2000  # of the probability of being the strongest: its standard error is at most 1.1 %
SEED = 1
MOST_DRAWN = 3_000_000  # numbers of a bootstrap's tables, rounds × n²: under a second
MOST_ROUNDS = 1000
LEAST_ROUNDS = 100


# --- the counts of a board's pairs as arrays ---


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How contestants fared against each other. table: what ratings are made of, in the sequence of `contestants`. The
    others are n × n, the same both ways. excluded: battles of excluded contestants, by their key.
    """

    contestants: tuple[Contestant, ...]
    table: Table
    both_bad: FloatArray
    consistent: FloatArray
    inconsistent: FloatArray
    excluded: dict[int, int]


def counts_of(board: Board, of: Slice = WHOLE, slices: "Slices | None" = None) -> Counts:
    """Read the counts of a slice. Excluded contestants are not among its contestants. slices: the board's, where they
    are known. Raises Invalid like `_pairs`.
    """
    pairs = _pairs(board, of, slices)
    contestants = Contestant.objects.filter(dataset=board.dataset_id).order_by("name")
    battled = set(np.flatnonzero(np.bincount(pairs[:2].ravel())).tolist())
    known = [one for one in contestants.prefetch_related("model__provider") if one.pk in battled]
    kept = tuple(one for one in known if not one.void_reason)
    keys, size = [one.pk for one in kept], len(kept)
    place = np.full(max([*keys, int(pairs[:2].max(initial=0))], default=0) + 1, -1, dtype=np.int64)
    place[keys] = np.arange(size)
    left, right = place[pairs[0]], place[pairs[1]]
    inside = (left >= 0) & (right >= 0)
    cells = left[inside] * size + right[inside]
    left_wins, right_wins, *both_ways = (
        np.bincount(cells, column[inside], minlength=size * size).astype(np.float64).reshape(size, size)
        for column in pairs[2:]
    )
    ties, both_bad, consistent, inconsistent = (one + one.T for one in both_ways)
    of_key = {one.pk: (pairs[:2] == one.pk).any(axis=0) for one in known if one.void_reason}
    excluded = {key: int(pairs[2:6, mine].sum()) for key, mine in of_key.items()}
    table = Table(left_wins + right_wins.T, ties, tuple(one.name for one in kept))
    return Counts(kept, table, both_bad, consistent, inconsistent, excluded)


def _pairs(board: Board, of: Slice, slices: "Slices | None") -> IntArray:
    """Left, right and COLUMNS, in no sequence of pairs. Counts are kept by subset and category; by source, language and
    period battles are counted anew. Raises Invalid where these are too many.
    """
    pairs, names = PairCount.objects.filter(board=board).order_by(), ("left_id", "right_id", *COLUMNS)
    if of.source or of.language or of.period:
        if of.period:
            many, most = battles_within(board, of.period), MOST_IN_PERIOD
            said = _("A period of more than %(n)s battles cannot be shown. Choose a shorter one.")
        else:
            many = sum(pairs.aggregate(**{name: Sum(name, default=0) for name in COLUMNS[:4]}).values())
            most = MOST_COUNTED
            said = _("A board of more than %(n)s battles cannot be filtered by source or language.")
        if many > most:
            name = next(name for name in ("period", "source", "language") if getattr(of, name))
            raise Invalid({name: [said % {"n": f"{most:,}"}]})
        battles = Battle.objects.filter(of.battles, board=board).counted().order_by()
        return _fetched(battles.values("left_id", "right_id").annotate(**COUNTS).values_list(*names))
    pairs, slices = pairs.filter(**of.chosen), slices or slices_of(board)
    if slices.subsets or slices.categories:
        return _fetched(pairs.values_list("left_id", "right_id").annotate(**{f"all_{x}": Sum(x) for x in COLUMNS}))
    listed = {f"listed_{name}": Listed(name) for name in names}
    texts = pairs.values("board_id").annotate(**listed).values_list(*listed)
    columns = next(iter(texts), [""] * len(names))  # of the one board
    return np.stack([np.fromstring(column, dtype=np.int64, sep=",") for column in columns])


def _fetched(rows: QuerySet[Any, Any]) -> IntArray:
    """Straight from the cursor: twice as fast as through the query set."""
    with connection.cursor() as cursor:
        cursor.execute(*rows.query.sql_with_params())
        return np.fromiter(chain.from_iterable(cursor.fetchall()), dtype=np.int64).reshape(-1, 2 + len(COLUMNS)).T


class Listed(Aggregate):
    """The whole numbers of a column as one text, with commas between them: to read a row for each takes longer."""

    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')")


def battles_within(board: Board, period: str) -> int:
    """How many battles a period has, open ones included; of more than MOST_IN_PERIOD, one more than that."""
    return board.battles.filter(Period.read(period).battles).order_by()[: MOST_IN_PERIOD + 1].count()


class Slices(NamedTuple):
    subsets: tuple[str, ...]
    categories: tuple[str, ...]
    sources: tuple[str, ...]
    languages: tuple[str, ...]


def slices_of(board: Board) -> Slices:
    """The subsets and the categories that have battles, and the sources and languages of the dataset's prompts, each in
    sequence. Looked for when a count or a sample has become new.
    """

    def find() -> Slices:
        found = list(PairCount.objects.filter(board=board).order_by().values_list("subset", "category").distinct())
        subsets, categories = ({pair[index] for pair in found} - {""} for index in (0, 1))
        samples = Sample.objects.filter(dataset=board.dataset_id)
        sources, languages = (
            samples.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()[:MOST_VALUES]
            for name in ("source", "language")
        )
        return Slices(tuple(sorted(subsets)), tuple(sorted(categories)), tuple(sources), tuple(languages))

    newest = [rows.order_by("-pk").values_list("pk", flat=True).first() for rows in (PairCount.objects, Sample.objects)]
    return memoize("slices", (board.slug, newest), find)


# --- intervals ---


def to_read(counts: Counts) -> float:
    """How many battles are read for the intervals of what was counted, those of excluded contestants too."""
    return float(counts.table.games.sum()) / 2 + sum(counts.excluded.values())


def board_intervals(
    board: Board,
    counts: Counts,
    of: Slice = WHOLE,
    *,
    most: float | None = None,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
) -> Intervals:
    """Intervals of a slice of the board, from its battles with their samples while there are at most so many: `most`,
    or as many as can be read while a page waits.

    Beyond that, how much wider samples make them is taken from the ladder as a worker last computed it.
    """
    table = counts.table
    if to_read(counts) > (MOST_READ if most is None else most):
        return as_wide_as(table, kept_widths([board], table.contestants), anchors=anchors, errors=errors)
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    shared = shared_of([board.pk], keys, table.contestants, of.battles)
    return by_items(table, shared, anchors=anchors, errors=errors)


def widths_of(table: Table, intervals: Intervals) -> dict[str, float | None]:
    """How many times as wide samples make the intervals, by name; None where nothing can be said."""
    found = zip(table.contestants, times_as_wide(table, intervals).tolist(), strict=True)
    return {name: round(v, 3) if math.isfinite(v) else None for name, v in found if not math.isnan(v)}


def kept_widths(boards: Sequence[Board], names: Sequence[str]) -> FloatArray:
    """What workers have stored with the boards' ladders, the largest of each name; inf where nothing can be said of it,
    nan where it is new.
    """
    standings = Standing.objects.filter(ladder__board__in=boards, data__shape=SHAPE)
    kept = list(standings.values_list("data__widths", flat=True))

    def largest(name: str) -> float:
        widths = [one[name] for one in kept if name in one]
        return max((width for width in widths if width is not None), default=math.inf if widths else math.nan)

    return np.array([largest(name) for name in names], dtype=np.float64)


def rounds_for(size: int) -> int:
    """How many resamples there is time for while a page waits."""
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_DRAWN // max(size, 1) ** 2))


def resampled(table: Table, closed: Intervals, rounds: int) -> Intervals:
    """The bootstrap's intervals, as many times as wide as the errors of `closed` are to those of independent battles.

    Ranks follow from those errors. A contestant that no resample moves has the closed form's interval.
    """
    alone, drawn, values = sandwich(table).errors, bootstrap(table, rounds, SEED), closed.ratings.values
    has_moved = alone > NO_SPREAD
    times = closed.errors / np.where(has_moved, alone, 1.0)
    lower = np.where(has_moved, values - times * (values - drawn.lower), closed.lower)
    upper = np.where(has_moved, values + times * (drawn.upper - values), closed.upper)
    return replace(closed, lower=lower, upper=upper)


# --- ranks and rows ---


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Intervals, and what they say of ranks; why_none: by contestant, why it has no rank, empty for those that do."""

    intervals: Intervals
    ranks: Ranks
    why_none: tuple[str, ...]

    @property
    def is_uncertain(self) -> BoolArray:
        """Who has a rating of which too little is known."""
        return np.isnan(self.ranks.rank) & ~np.isnan(self.intervals.ratings.values)

    def placed(self, index: int) -> dict[str, Any]:
        """Of a row: a rating with its interval and rank; a one-sided bound and a rank; or why there is no rank, and the
        rating with its interval where there is one all the same.
        """
        rating, why = finite(self.intervals.ratings.values[index]), self.intervals.ratings.reasons[index]
        bounds = self.intervals if rating is not None else self.intervals.one_sided
        ends = {"lower": finite(bounds.lower[index]), "upper": finite(bounds.upper[index])}
        if self.why_none[index]:
            is_known = rating is not None and None not in ends.values()
            return {"reason": self.why_none[index]} | ({"rating": rating, **ends} if is_known else {})
        places = {name: int(getattr(self.ranks, name)[index]) for name in ("rank", "best", "worst", "group")}
        return {"rating": rating, **ends, "reason": str(why or ""), **places, "first": finite(self.ranks.first[index])}


def ranking_of(intervals: Intervals, table: Table) -> Ranking:
    """Ranks among those of whom enough is known. Too little is known with fewer than five battles with others that can
    be placed, from a single sample, and for a rating that could be wrong by more than 400 points.
    """
    ratings = intervals.ratings
    is_rated = ~np.isnan(ratings.values)
    same = ratings.component_of[:, None] == ratings.component_of[None, :]

    def has_enough_with(others: BoolArray) -> BoolArray:
        has: BoolArray = (table.games * (others[None, :] & same)).sum(axis=1) >= FEWEST
        return has

    is_wide = is_rated & (NORMAL * np.nan_to_num(intervals.errors, nan=np.inf) > WIDEST)
    has_enough = np.where(is_rated, has_enough_with(is_rated), has_enough_with(ratings.is_placeable))
    order = ranks(intervals, draws=DRAWS, seed=SEED, is_known=has_enough & ~is_wide)

    def why_none(has_none: bool, reason: Reason | None, enough: bool) -> str:
        if not has_none:
            return ""
        if reason in (Reason.UNLINKED, Reason.NO_BATTLES):
            return str(reason)
        return "few_samples" if enough else "few_battles"

    return Ranking(intervals, order, tuple(map(why_none, np.isnan(order.rank), ratings.reasons, has_enough)))


def rows_of(table: Table, found: Ranking, described: Mapping[str, Row], counts: Counts | None = None) -> list[Row]:
    """The rows, the highest first. described: the row of each contestant by name, with what is no number. counts: of
    the same contestants; without it no battle was “both bad” and none was judged in both orders.
    """
    component = found.intervals.ratings.component_of.tolist()
    nothing = np.zeros_like(table.wins)
    further = [counts.both_bad, counts.consistent, counts.inconsistent] if counts else [nothing] * 3
    sums = [
        table.wins.sum(axis=1),
        table.wins.sum(axis=0),
        table.ties.sum(axis=1),
        *(one.sum(axis=1) for one in further),
    ]
    rows = []
    for index, numbers in enumerate(np.stack(sums, axis=1).astype(int).tolist()):
        wins, losses, ties, both_bad, consistent, inconsistent = numbers
        games = wins + losses + ties
        row = replace(
            described[table.contestants[index]],
            component=component[index],
            battles=games + both_bad,
            wins=wins,
            losses=losses,
            ties=ties,
            both_bad=both_bad,
            win_rate=(wins + ties / 2) / games if games else None,
            consistency=share(consistent, inconsistent),
            **found.placed(index),
        )
        rows.append(row)

    def sequence(row: Row) -> tuple[tuple[bool, int, int, float], float, str]:
        return figures.sequence(row), -1.0 if row.win_rate is None else -row.win_rate, row.name

    return sorted(rows, key=sequence)
