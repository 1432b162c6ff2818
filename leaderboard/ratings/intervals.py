"""Intervals of ratings in closed form: the sandwich of the likelihood's curvature and the battles' own spread."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.battles import Battles, Table, as_table, tally
from leaderboard.ratings.bradley_terry import (
    Errors,
    Fitted,
    OneSided,
    Ratings,
    anchor_covariance,
    fitted,
    from_counts,
    from_items,
    ratings_of,
)
from leaderboard.ratings.likelihood import chances, gauged, information, laplacian
from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.values import COVERAGE, ELO, NORMAL, BoolArray, FloatArray, IntArray, Reason, Undefined

MOST_AT_ONCE = 8_000_000  # cells of the table clusters × contestants, 64 MB

NO_SPREAD = 0.01  # Elo: a standard error below it means that all battles came out alike
LITTLE_SPREAD = 0.1  # of the spread that the model expects: scores as even as that tell of no precision
FEW = 10  # battles within the rated group: with fewer, it is chance how even they are
Spread = Callable[[Fitted, IntArray], tuple[FloatArray, FloatArray]]  # B of a part, and what its errors are times


def clustered_spread(found: Fitted, part: IntArray, battles: Battles | Table, clusters: ArrayLike) -> FloatArray:
    """The sum over clusters of the outer product of the cluster's summed scores, for the members of the part."""
    labels = np.asarray(clusters)
    if isinstance(battles, Table) or labels.shape != battles.left.shape:
        raise ValueError("clusters are given for battles, one per battle")
    place = np.full(len(found.order), -1, dtype=np.int64)
    place[found.order[part]] = np.arange(len(part))
    left, right = place[battles.left], place[battles.right]
    inside = (left >= 0) & (right >= 0)
    left, right, strengths = left[inside], right[inside], found.solution.strengths[part]
    surprise = battles.score[inside] - 1.0 / (1.0 + np.exp(strengths[right] - strengths[left]))
    numbers = np.unique(labels[inside], return_inverse=True)[1].reshape(-1)
    return _outer_products(numbers, left, right, surprise, len(part))


def _outer_products(numbers: IntArray, left: IntArray, right: IntArray, surprise: FloatArray, count: int) -> FloatArray:
    order = np.argsort(numbers, kind="stable")
    total = np.zeros((count, count))
    step = max(MOST_AT_ONCE // count, 1)
    ends = np.searchsorted(numbers[order], np.arange(step, numbers.max(initial=-1) + 1 + step, step))
    for chosen in np.split(order, ends):
        if chosen.size:
            rows = (numbers[chosen] - numbers[chosen[0]]) * count
            cells = (int(rows[-1]) // count + 1) * count
            sums = np.bincount(rows + left[chosen], surprise[chosen], minlength=cells)
            sums -= np.bincount(rows + right[chosen], surprise[chosen], minlength=cells)
            total += sums.reshape(-1, count).T @ sums.reshape(-1, count)
    return total


# --- the sandwich ---


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """95 % intervals of ratings (Elo) in the contestants' sequence; nan where there is no rating.

    lower and upper may be infinite: so many resamples leave the contestant unbeaten, or without a win, that no bound
    holds. errors: standard errors. covariance: n × n in Elo², nan between components; differences are to be judged by
    it, not by overlapping intervals. one_sided: the bounds of those above or below all rated contestants.
    """

    ratings: Ratings
    lower: FloatArray
    upper: FloatArray
    errors: FloatArray
    covariance: FloatArray
    one_sided: OneSided

    def difference(self, first: str, second: str) -> tuple[float, float, float]:
        """The rating of the first less that of the second, and its 95 % interval, in Elo."""
        i, j = (self.ratings.contestants.index(name) for name in (first, second))
        apart = float(self.ratings.values[i] - self.ratings.values[j])
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        reach = NORMAL * float(np.sqrt(np.maximum(variance, 0.0)))
        return apart, apart - reach, apart + reach


def sandwich(
    battles: Battles | Table,
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    clusters: ArrayLike | None = None,
) -> Intervals:
    """Intervals rating ± 1.96 standard errors from the covariance H⁻¹ B H⁻¹, relative to the component's mean.

    H is the information, B the sum over battles of the outer product of their scores. anchors and their errors (see
    `anchor_covariance`): the others' errors then hold what the anchors' uncertainty adds. clusters: one whole number
    per battle; battles of one cluster (an item, a voter, a prompt) are not taken for independent of each other.
    Sources: Huber (1967); White, "Maximum likelihood estimation of misspecified models", Econometrica 50 (1982);
    clusters: Liang & Zeger, Biometrika 73 (1986). Raises ValueError as `fit` does, and for clusters that do not fit.
    """
    found = fitted(battles, anchors or {})
    known = anchor_covariance(found.table.contestants, anchors or {}, errors)
    count = len(found.order)
    covariance = np.full((count, count), np.nan)
    for part in found.parts:
        if clusters is None:
            spread = independent_spread(found.table, part, found.solution.strengths[part])
        else:
            spread = clustered_spread(found, part, battles, clusters)
        covariance[np.ix_(part, part)] = _covariance(found, part, spread, known[np.ix_(part, part)])
    intervals = from_covariance(found, covariance)
    if clusters is None or isinstance(battles, Table):
        return intervals
    return replace(intervals, one_sided=from_items(intervals.ratings, as_table(battles), battles, clusters))


def from_covariance(found: Fitted, covariance: FloatArray) -> Intervals:
    """Normal intervals from a covariance in nats², in the sequence of names; bounds take battles for independent."""
    back = np.argsort(found.order)
    elo = ELO**2 * covariance[np.ix_(back, back)]
    ratings, errors = ratings_of(found), np.sqrt(np.maximum(np.diag(elo), 0.0))
    one_sided, reach = from_counts(ratings, found.table.ordered(back).games), NORMAL * errors
    return Intervals(ratings, ratings.values - reach, ratings.values + reach, errors, elo, one_sided)


def bread(points: FloatArray, strengths: FloatArray, free: IntArray) -> FloatArray:
    """The inverse of the information of those who are free, 0 elsewhere; with all free, the one with sums of 0."""
    curvature = information(points, strengths)
    inverse = np.zeros_like(curvature)
    if free.size == len(points):
        inverse[:] = np.linalg.inv(gauged(curvature))
        inverse -= inverse.mean()
    else:
        inverse[np.ix_(free, free)] = np.linalg.inv(curvature[np.ix_(free, free)])
    return inverse


def response(points: FloatArray, strengths: FloatArray, inverse: FloatArray, free: IntArray) -> FloatArray:
    """How all strengths move with each strength that is fixed, n × n; columns of those who are free are 0."""
    moves = np.eye(len(points))
    moves[:, free] = 0.0
    if free.size < len(points):
        moves -= inverse @ information(points, strengths) @ moves
    return moves


def _covariance(found: Fitted, part: IntArray, spread: FloatArray, known: FloatArray) -> FloatArray:
    points, strengths = found.table.points[np.ix_(part, part)], found.solution.strengths[part]
    free = np.flatnonzero(~found.is_fixed[part])
    inverse = bread(points, strengths, free)
    moves = response(points, strengths, inverse, free)
    return inverse @ spread @ inverse + moves @ known @ moves.T


def independent_spread(table: Table, part: IntArray, strengths: FloatArray) -> FloatArray:
    """B from the table: a battle of i and j, both of the part, adds (score - p)² to the pair's weight."""
    chosen = np.ix_(part, part)
    wins, ties = table.wins[chosen], table.ties[chosen]
    expected = chances(strengths)
    decided = wins * expected.T**2
    return laplacian(decided + decided.T + ties * (0.5 - expected) ** 2)


# --- how much wider intervals are where the votes of one voter count as one observation ---


def clusters_of_each(battles: Battles, clusters: ArrayLike) -> IntArray:
    """In how many clusters each contestant was compared. Shape n; clusters: one number from 0 on per battle."""
    count = len(battles.contestants)
    sides = np.concatenate([battles.left, battles.right])
    met = np.unique(np.tile(np.asarray(clusters, dtype=np.int64), 2) * count + sides)
    return np.bincount(met % max(count, 1), minlength=count)


def careful(intervals: Intervals, clusters: IntArray) -> Intervals:
    """The same intervals as wide as few clusters ask for. clusters: n, in how many each contestant was compared.

    Errors are multiplied by √(g / (g - 1)) · t(g - 1) / 1.96, so that rating ± 1.96 errors is a t interval; nan for
    g = 1, of which nothing can be learned about another cluster.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    factors = np.array([factor(count) for count in clusters.tolist()])
    errors, values = intervals.errors * factors, intervals.ratings.values
    covariance = intervals.covariance * np.outer(factors, factors)
    lower, upper = values - NORMAL * errors, values + NORMAL * errors
    return replace(intervals, lower=lower, upper=upper, errors=errors, covariance=covariance)


def _careful(battles: Battles, clusters: ArrayLike) -> Intervals:
    return careful(sandwich(battles, clusters=clusters), clusters_of_each(battles, clusters))


def factor(clusters: int) -> float:
    """√(g / (g - 1)) · t(g - 1) / 1.96: by how much errors from g clusters are too small; nan for g = 1."""
    if clusters < 2:
        return math.nan
    return math.sqrt(clusters / (clusters - 1)) * t_quantile(COVERAGE, clusters - 1) / NORMAL


def widening(battles: Battles, clusters: ArrayLike, beside: ArrayLike | None = None) -> float | Undefined:
    """The median, over who is rated, of the width by clusters over the width by others, those `beside`; without them
    over the width that takes battles for independent.

    For few clusters the former is made wider by √(g / (g - 1)) · t(g - 1) / 1.96, g being their number. Undefined for
    one cluster, of which nothing can be learned about another one, and where nothing varies.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    count = len(np.unique(np.asarray(clusters)))
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    with np.errstate(invalid="ignore"):  # a spread of nothing may come out as less than nothing
        together = sandwich(battles, clusters=clusters).errors
        alone = sandwich(battles).errors if beside is None else _careful(battles, beside).errors
    known = np.isfinite(alone) & np.isfinite(together) & (np.nan_to_num(alone) > NO_SPREAD)
    if not known.any():
        return Undefined(Reason.NO_SPREAD)
    return float(np.median(together[known] / alone[known])) * factor(count)


# --- intervals of ratings where several battles share an item: a sample, a question ---


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
        covariance[inside] = _covariance_by_items(found, part, spread(found, part), known[inside], at_least=at_least)
    return from_covariance(found, covariance)


def _covariance_by_items(
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
