"""From a table of counts to rows: ratings, intervals, ranks, and the reasons where there are none."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from experiments.models import Board
from experiments.runs import figures
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards.counts import Counts
from leaderboard.boards.standings import SHAPE, Row, share
from leaderboard.models import Standing
from leaderboard.ratings import Intervals, Ranks, Ratings, Reason, Table, bootstrap, ranks, sandwich
from leaderboard.ratings.bradley_terry import Errors
from leaderboard.ratings.intervals import Shared, as_wide_as, by_items, times_as_wide
from leaderboard.ratings.values import NORMAL, BoolArray, FloatArray

MOST_READ = 20_000  # battles while somebody waits, in less than a tenth of a second
MOST_KEPT = 1_000_000  # battles for what is kept for good, in a few seconds
Widths = dict[str, float | None]  # how many times as wide, by name; None where nothing can be said


def quick_intervals(
    board: Board,
    counts: Counts,
    subset: str = "",
    category: str = "",
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
) -> Intervals:
    """Intervals of a slice of the board for somebody who waits: of one that has many battles it is not read anew how
    much wider samples make intervals; that is as it was for the ladder when a worker last computed it.
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
    return intervals, {name: round(v, 3) if isfinite(v) else None for name, v in found if not isnan(v)}


def to_read(counts: Counts) -> float:
    """How many battles are read for the intervals of what was counted, those of contestants that are left out too."""
    return float(counts.table.games.sum()) / 2 + sum(counts.excluded.values())


def kept_widths(boards: Sequence[Board], names: Sequence[str]) -> FloatArray:
    """What workers have kept with the boards' ladders, the largest of each name; inf where nothing can be said of it,
    nan where it is new.
    """
    standings = Standing.objects.filter(ladder__board__in=boards, data__shape=SHAPE)
    kept = list(standings.values_list("data__widths", flat=True))
    return np.array([_largest([widths[name] for widths in kept if name in widths]) for name in names], dtype=np.float64)


def _largest(widths: Sequence[float | None]) -> float:
    return max((width for width in widths if width is not None), default=inf if widths else nan)


def _shared(board: Board, counts: Counts, subset: str, category: str) -> Shared:
    """The battles of a slice with their samples, of those who are in the counts."""
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    slices = {"subset": [subset] if subset else [], "category": [category] if category else []}
    return shared_of([board.pk], keys, counts.table.contestants, **slices)


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


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What happened to each contestant, n × n as in `Counts`."""

    table: Table
    both_bad: FloatArray
    consistent: FloatArray
    inconsistent: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Intervals, and what they say of ranks; why_none: by contestant, why it has no rank, empty for those that do."""

    intervals: Intervals
    ranks: Ranks
    why_none: tuple[str, ...]

    @property
    def is_uncertain(self) -> BoolArray:
        """Who has a rating of which too little is known."""
        return np.isnan(self.ranks.rank) & ~np.isnan(self.intervals.ratings.values)


def placed(intervals: Intervals, table: Table) -> Placed:
    """Ranks among those of whom enough is known. Too little is known with fewer than five battles with others that can
    be placed, from a single sample, and for a rating that could be wrong by more than 400 points.
    """
    ratings = intervals.ratings
    is_wide = ~np.isnan(ratings.values) & (NORMAL * np.nan_to_num(intervals.errors, nan=np.inf) > WIDEST)
    rated_enough = _battles_with(~np.isnan(ratings.values), ratings, table) >= FEWEST
    placed_enough = _battles_with(ratings.is_placeable, ratings, table) >= FEWEST
    has_enough = np.where(np.isnan(ratings.values), placed_enough, rated_enough)
    order = ranks(intervals, draws=DRAWS, seed=SEED, is_known=has_enough & ~is_wide)
    no_rank, reasons = np.isnan(order.rank).tolist(), ratings.reasons
    why = [_why_none(*each) for each in zip(no_rank, reasons, has_enough.tolist(), strict=True)]
    return Placed(intervals, order, tuple(why))


def rows_of(tally: Tally, found: Placed, described: Mapping[str, Row]) -> list[Row]:
    """described: the row of each contestant by name, with what is no number. Those who stand highest come first."""
    component = found.intervals.ratings.component_of.tolist()
    fared = _fared(tally)
    rows = [
        replace(described[name], component=component[index], **fared[index], **_rated(found, index))
        for index, name in enumerate(tally.table.contestants)
    ]
    return sorted(rows, key=_sequence)


def rounds_for(size: int) -> int:
    """How many resamples there is time for while somebody waits."""
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


def _why_none(no_rank: bool, reason: Reason | None, has_enough: bool) -> str:
    if not no_rank:
        return ""
    if reason in (Reason.UNLINKED, Reason.NO_BATTLES):
        return str(reason)
    return FEW_SAMPLES if has_enough else FEW_BATTLES


def _battles_with(others: BoolArray, ratings: Ratings, table: Table) -> FloatArray:
    """How many battles each has with those others that are of its component."""
    component = ratings.component_of
    counted = others[None, :] & (component[:, None] == component[None, :])
    battles: FloatArray = (table.games * counted).sum(axis=1)
    return battles


def _fared(tally: Tally) -> list[dict[str, Any]]:
    """What happened to each contestant, in whole battles."""
    sums = [tally.table.wins.sum(axis=1), tally.table.wins.sum(axis=0)]
    sums += [matrix.sum(axis=1) for matrix in (tally.table.ties, tally.both_bad, tally.consistent, tally.inconsistent)]
    found = []
    for wins, losses, ties, both_bad, consistent, inconsistent in np.stack(sums, axis=1).astype(int).tolist():
        games = wins + losses + ties
        found.append(
            {
                "wins": wins,
                "losses": losses,
                "ties": ties,
                "both_bad": both_bad,
                "battles": games + both_bad,
                "win_rate": (wins + ties / 2) / games if games else None,
                "consistency": share(consistent, inconsistent),
            }
        )
    return found


def _rated(found: Placed, index: int) -> dict[str, Any]:
    """A rating with its interval and rank; a one-sided bound and a rank; or why there is no rank."""
    if found.why_none[index]:
        return {"reason": found.why_none[index]}
    intervals, order, one_sided = found.intervals, found.ranks, found.intervals.one_sided
    rating, why = _bound(intervals.ratings.values[index]), intervals.ratings.reasons[index]
    bounds = intervals if rating is not None else one_sided
    return {
        "rating": rating,
        "lower": _bound(bounds.lower[index]),
        "upper": _bound(bounds.upper[index]),
        "reason": str(why or ""),
        "rank": int(order.rank[index]),
        "best": int(order.best[index]),
        "worst": int(order.worst[index]),
        "group": int(order.group[index]),
        "first": _bound(order.first[index]),
    }


def _bound(value: float) -> float | None:
    return round(float(value), 6) + 0.0 if math.isfinite(value) else None


def _sequence(row: Row) -> tuple[tuple[bool, int, int, float], float, str]:
    return figures.sequence(row), -1.0 if row.win_rate is None else -row.win_rate, row.name
