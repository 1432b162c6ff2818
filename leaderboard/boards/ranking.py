"""From counts to rows: intervals, in which battles of one sample are one observation; ranks; and the reasons where
there are none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.models import Board
from experiments.runs import figures
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards.counts import Counts
from leaderboard.boards.standings import SHAPE, Row, share
from leaderboard.models import Standing
from leaderboard.ratings import Intervals, Ranks, Reason, Table, bootstrap, ranks, sandwich
from leaderboard.ratings.intervals import Errors, Shared, as_wide_as, by_items, times_as_wide
from leaderboard.ratings.values import NORMAL, BoolArray, FloatArray

MOST_READ = 20_000  # battles while a page waits, in less than a tenth of a second
MOST_KEPT = 1_000_000  # battles for what is stored for good, in a few seconds
FEW_BATTLES = "few_battles"
FEW_SAMPLES = "few_samples"
FEWEST = 5  # battles
WIDEST = 400.0  # Elo to one side: odds of ten to one
DRAWS = 2000  # of the probability of being the strongest: its standard error is at most 1.1 %
NO_SPREAD = 0.01  # Elo: a standard error below it means that every battle was a tie
SEED = 1
MOST_DRAWN = 3_000_000  # numbers of a bootstrap's tables, rounds × n²: under a second
MOST_ROUNDS = 1000
LEAST_ROUNDS = 100
Widths = dict[str, float | None]  # how many times as wide, by name; None where nothing can be said


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


def quick_intervals(
    board: Board,
    counts: Counts,
    subset: str = "",
    category: str = "",
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
) -> Intervals:
    """Intervals of a slice of the board while a page waits: where battles are many, how much wider samples make them is
    not read again but taken from the ladder as a worker last computed it.
    """
    table = counts.table
    if to_read(counts) > MOST_READ:
        return as_wide_as(table, kept_widths([board], table.contestants), anchors=anchors, errors=errors)
    return by_items(table, _shared(board, counts, subset, category), anchors=anchors, errors=errors)


def lasting_intervals(board: Board, counts: Counts) -> Intervals:
    """Intervals for what is kept for good: from all battles of the board, while they can be read in a few seconds."""
    if to_read(counts) > MOST_KEPT:
        return quick_intervals(board, counts)
    return by_items(counts.table, _shared(board, counts, "", ""))


def full_intervals(board: Board, counts: Counts, subset: str = "", category: str = "") -> tuple[Intervals, Widths]:
    """Intervals of a slice from all its battles, and how many times as wide samples make them, by name."""
    table = counts.table
    intervals = by_items(table, _shared(board, counts, subset, category))
    found = zip(table.contestants, times_as_wide(table, intervals).tolist(), strict=True)
    return intervals, {name: round(v, 3) if math.isfinite(v) else None for name, v in found if not math.isnan(v)}


def to_read(counts: Counts) -> float:
    """How many battles are read for the intervals of what was counted, those of contestants that are left out too."""
    return float(counts.table.games.sum()) / 2 + sum(counts.excluded.values())


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


def _shared(board: Board, counts: Counts, subset: str, category: str) -> Shared:
    """The battles of a slice with their samples, of those who are in the counts."""
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    slices = {"subset": [subset] if subset else [], "category": [category] if category else []}
    return shared_of([board.pk], keys, counts.table.contestants, **slices)


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
        return FEW_SAMPLES if enough else FEW_BATTLES

    each = zip(np.isnan(order.rank).tolist(), ratings.reasons, has_enough.tolist(), strict=True)
    return Ranking(intervals, order, tuple(why_none(*one) for one in each))


def rows_of(table: Table, found: Ranking, described: Mapping[str, Row], counts: Counts | None = None) -> list[Row]:
    """The rows, those who stand highest first. described: the row of each contestant by name, with what is no number.
    counts: of the same contestants; without it no battle was “both bad” and none was judged in both orders.
    """
    component = found.intervals.ratings.component_of.tolist()
    nothing = np.zeros(len(table.contestants))
    sums = [table.wins.sum(axis=1), table.wins.sum(axis=0), table.ties.sum(axis=1)]
    further = [counts.both_bad, counts.consistent, counts.inconsistent] if counts else []
    sums += [matrix.sum(axis=1) for matrix in further] or [nothing] * 3
    rows = []
    for index, numbers in enumerate(np.stack(sums, axis=1).astype(int).tolist()):
        wins, losses, ties, both_bad, *in_both_orders = numbers
        games = wins + losses + ties
        fared: dict[str, Any] = dict(zip(("wins", "losses", "ties", "both_bad"), numbers, strict=False))
        fared |= {"battles": games + both_bad, "win_rate": (wins + ties / 2) / games if games else None}
        fared |= {"consistency": share(*in_both_orders), "component": component[index]}
        rows.append(replace(described[table.contestants[index]], **fared, **_rated(found, index)))

    def sequence(row: Row) -> tuple[tuple[bool, int, int, float], float, str]:
        return figures.sequence(row), -1.0 if row.win_rate is None else -row.win_rate, row.name

    return sorted(rows, key=sequence)


def rounds_for(size: int) -> int:
    """How many resamples there is time for while a page waits."""
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_DRAWN // max(size, 1) ** 2))


def resampled(table: Table, closed: Intervals, rounds: int) -> Intervals:
    """The bootstrap's intervals, as many times as wide as the errors of `closed` are to those of independent battles.

    Ranks are told by those errors. Whom no resample moves has the closed form's interval.
    """
    alone, drawn, values = sandwich(table).errors, bootstrap(table, rounds, SEED), closed.ratings.values
    has_moved = alone > NO_SPREAD
    times = closed.errors / np.where(has_moved, alone, 1.0)
    lower = np.where(has_moved, values - times * (values - drawn.lower), closed.lower)
    upper = np.where(has_moved, values + times * (drawn.upper - values), closed.upper)
    return replace(closed, lower=lower, upper=upper)


def _rated(found: Ranking, index: int) -> dict[str, Any]:
    """A rating with its interval and rank; a one-sided bound and a rank; or why there is no rank."""
    if found.why_none[index]:
        return {"reason": found.why_none[index]}
    ratings, order = found.intervals.ratings, found.ranks
    rating, why = _finite(ratings.values[index]), ratings.reasons[index]
    bounds = found.intervals if rating is not None else found.intervals.one_sided
    places = {name: int(getattr(order, name)[index]) for name in ("rank", "best", "worst", "group")}
    ends = {"lower": _finite(bounds.lower[index]), "upper": _finite(bounds.upper[index])}
    return {"rating": rating, **ends, "reason": str(why or ""), **places, "first": _finite(order.first[index])}


def _finite(value: float) -> float | None:
    return round(float(value), 6) + 0.0 if math.isfinite(value) else None
