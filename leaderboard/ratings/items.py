"""Intervals of ratings where several battles share an item: a sample, a question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table, tally
from leaderboard.ratings.clusters import clustered_spread
from leaderboard.ratings.fitting import Errors, Fitted, anchor_covariance, fitted
from leaderboard.ratings.intervals import Intervals, bread, from_covariance, independent_spread, response
from leaderboard.ratings.newton import information, laplacian
from leaderboard.ratings.one_sided import from_counts, from_items
from leaderboard.ratings.widening import clusters_of_each, factor

LITTLE_SPREAD = 0.1  # of the spread that the model expects: scores as even as that tell of no precision
FEW = 10  # battles within the rated group: with fewer, it is chance how even they are
Spread = Callable[[Fitted, IntArray], tuple[FloatArray, FloatArray]]  # B of a part, and what its errors are times


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Battles, and the item of each: whole numbers, one per battle. Those of one item count as one observation."""

    battles: Battles
    items: IntArray


def by_items(
    table: Table,
    shared: Shared,
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    at_least: bool = True,
) -> Intervals:
    """Intervals rating ± 1.96 errors of the table, from the sandwich with the items as clusters.

    shared: the table's battles, of the same contestants in the same sequence; those of the table that are not among
    them are taken for independent. Errors are multiplied by √(g / (g - 1)) · t(g - 1) / 1.96, g being the number of
    items on which a contestant was compared within the rated group; nan for g = 1. at_least: whoever's scores hardly
    vary, or who has few battles in the group, has at least the variance that the model alone gives, the diagonal of
    the information's inverse. anchors, errors: as of `sandwich`. Raises ValueError as `fit` does, and for battles of
    other contestants.
    Sources: Liang & Zeger, Biometrika 73 (1986); Cameron & Miller, J. Human Resources 50 (2015), VI.
    """
    if tuple(shared.battles.contestants) != table.contestants:
        raise ValueError("the battles are those of the table's contestants, in its sequence")
    alone = _without(table, shared.battles)

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        rest, strengths = alone.ordered(found.order), found.solution.strengths[part]
        together = clustered_spread(found, part, shared.battles, shared.items)
        counts = _items_of_each(found, part, shared, rest).tolist()
        return together + independent_spread(rest, part, strengths), np.array([factor(count) for count in counts])

    intervals = _intervals(table, spread, anchors, errors, at_least=at_least)
    return replace(intervals, one_sided=from_items(intervals.ratings, table, shared.battles, shared.items))


def times_as_wide(table: Table, intervals: Intervals) -> FloatArray:
    """How many times as large the errors that `by_items` gave for the table are as those of independent battles, n.

    Both are at least what the model alone gives. inf: nothing can be said, of one item alone; nan: there is no rating.
    """
    alone = as_wide_as(table, np.ones(len(table.contestants))).errors
    return np.where(np.isnan(intervals.errors) & ~np.isnan(alone), np.inf, intervals.errors / alone)


def as_wide_as(
    table: Table, times: ArrayLike, *, anchors: Mapping[str, float] | None = None, errors: Errors | None = None
) -> Intervals:
    """What `by_items` gives, without the battles: errors are so many `times` those of independent ones, by contestant.

    times: n, as `times_as_wide` gave them for more battles of the same kind; inf: there is no error; nan stands for
    the median of the others, and for 1 where there are none. For one-sided bounds, that many times² battles are one
    observation.
    """
    given = np.asarray(times, dtype=np.float64)
    known = given[np.isfinite(given)]
    whole = np.where(np.isnan(given), np.median(known) if known.size else 1.0, given)
    whole[np.isinf(whole)] = np.nan

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        strengths = found.solution.strengths[part]
        return independent_spread(found.table, part, strengths), whole[found.order[part]]

    intervals = _intervals(table, spread, anchors, errors, at_least=True)
    effects = np.maximum(np.maximum(whole[:, None], whole[None, :]), 1.0) ** 2  # nan where nothing can be said
    counts = np.nan_to_num(table.games / effects)
    return replace(intervals, one_sided=from_counts(intervals.ratings, counts))


def _intervals(
    table: Table, spread: Spread, anchors: Mapping[str, float] | None, errors: Errors | None, *, at_least: bool
) -> Intervals:
    found = fitted(table, anchors or {})
    known = anchor_covariance(found.table.contestants, anchors or {}, errors)
    count = len(found.order)
    covariance = np.full((count, count), np.nan)
    for part in found.parts:
        inside = np.ix_(part, part)
        covariance[inside] = _covariance(found, part, spread(found, part), known[inside], at_least=at_least)
    return from_covariance(found, covariance)


def _covariance(
    found: Fitted, part: IntArray, spread: tuple[FloatArray, FloatArray], known: FloatArray, *, at_least: bool
) -> FloatArray:
    points, strengths = found.table.points[np.ix_(part, part)], found.solution.strengths[part]
    free = np.flatnonzero(~found.is_fixed[part])
    inverse = bread(points, strengths, free)
    meat, factors = spread[0], np.where(found.is_fixed[part], 1.0, spread[1])
    is_little = _has_little(points, strengths, meat) & at_least
    whole = meat + _missing(points, strengths, meat, is_little)
    covariance: FloatArray = inverse @ whole @ inverse * np.outer(factors, factors)
    short = np.diag(inverse) * factors**2 - np.diag(covariance)
    covariance += np.diag(np.where(is_little, np.fmax(short, 0.0), 0.0))
    moves = response(points, strengths, inverse, free)
    return covariance + moves @ known @ moves.T


def _has_little(points: FloatArray, strengths: FloatArray, meat: FloatArray) -> BoolArray:
    """Whose scores hardly vary, or are few."""
    expected, games = np.diag(information(points, strengths)), (points + points.T).sum(axis=1)
    found: BoolArray = (np.diag(meat) < LITTLE_SPREAD * expected) | (games < FEW)
    return found


def _missing(points: FloatArray, strengths: FloatArray, meat: FloatArray, is_little: BoolArray) -> FloatArray:
    """What the scores of those who have little would have to vary more to vary as the model expects; through the mean
    it tells on the others' ratings, too.
    """
    expected = information(points, strengths)
    own = np.maximum(np.diag(expected), np.finfo(float).tiny)  # an anchor may have met nobody
    lacking = np.where(is_little, np.clip(1 - np.diag(meat) / own, 0.0, 1.0), 0.0)
    return laplacian(-expected * np.maximum(lacking[:, None], lacking[None, :]))


def _items_of_each(found: Fitted, part: IntArray, shared: Shared, rest: Table) -> IntArray:
    """On how many items each of the part met another of the part; a battle of the rest is an item by itself."""
    members = np.zeros(len(found.order), dtype=bool)
    members[found.order[part]] = True
    battles = shared.battles
    chosen = members[battles.left] & members[battles.right]
    inside = Battles(battles.left[chosen], battles.right[chosen], battles.score[chosen], battles.contestants)
    numbers = np.unique(np.asarray(shared.items)[chosen], return_inverse=True)[1].reshape(-1)
    alone = rest.games[np.ix_(part, part)].sum(axis=1).astype(np.int64)
    counts: IntArray = clusters_of_each(inside, numbers)[found.order[part]] + alone
    return counts


def _without(table: Table, battles: Battles) -> Table:
    """What the table holds beside the battles."""
    told = tally(battles)
    return Table(np.maximum(table.wins - told.wins, 0), np.maximum(table.ties - told.ties, 0), table.contestants)
