"""Intervals of ratings in closed form: the sandwich of the likelihood's curvature and the battles' own spread.

Covariance H⁻¹ B H⁻¹, with H the information and B the sum of outer products of the observations' scores. Sources: Huber
(1967); White, "Maximum likelihood estimation of misspecified models", Econometrica 50 (1982); clusters: Liang & Zeger,
Biometrika 73 (1986); few of them: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human
Resources 50 (2015), VI; one-sided bounds: Clopper & Pearson, Biometrika 26 (1934).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.bradley_terry import (
    Fitted,
    Ratings,
    chances,
    fitted,
    gauged,
    information,
    laplacian,
    ratings_of,
)
from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.values import (
    COVERAGE,
    ELO,
    NORMAL,
    TAIL,
    Battles,
    BoolArray,
    FloatArray,
    IntArray,
    Reason,
    Table,
    Undefined,
    tally,
)

MOST_AT_ONCE = 8_000_000  # cells of the table clusters × contestants, 64 MB
FEWEST = 2  # observations: nothing can be learned from one about another
BISECTIONS = 100
NO_SPREAD = 0.01  # Elo: a standard error below it means that all battles came out alike
LITTLE_SPREAD = 0.1  # of the spread that the model expects: scores as even as that tell of no precision
FEW = 10  # battles within the rated group: with fewer, it is chance how even they are

Errors = Mapping[str, float] | FloatArray
Spread = Callable[[Fitted, IntArray], tuple[FloatArray, FloatArray | float]]  # B of a part; what its errors are times
Bounds = Callable[[Ratings], "OneSided"]  # of contestants without a finite rating


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Battles, and the item of each: whole numbers, one per battle. Those of one item count as one observation."""

    battles: Battles
    items: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class OneSided:
    """Bounds of contestants that won, or lost, every battle with the rated ones; nan, 0 or False elsewhere.

    lower: ratings (Elo) of those above the rated ones: at a lower rating, the probability of winning every one of
    their battles with the rated would be below 2.5 %. upper: the mirror, for those below. weights: n × n, how far a
    bound moves with each rated contestant's rating; rows sum to 1. surely: [i, j], i won every battle with j, which
    two equal contestants would do with a probability of 2.5 % at most.
    """

    lower: FloatArray
    upper: FloatArray
    weights: FloatArray
    surely: BoolArray


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
        far = NORMAL * float(np.sqrt(np.maximum(variance, 0.0)))
        return apart, apart - far, apart + far


# --- the sandwich: of single battles, of clusters, of items ---


def sandwich(
    battles: Battles | Table,
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
    clusters: ArrayLike | None = None,
) -> Intervals:
    """Intervals rating ± 1.96 standard errors from the covariance H⁻¹ B H⁻¹, relative to the component's mean.

    anchors and their errors (see `anchor_covariance`): the others' errors then hold what the anchors' uncertainty
    adds. clusters: one whole number per battle; battles of one cluster (an item, a voter, a prompt) are not taken for
    independent of each other. Raises ValueError as `fit` does, and for clusters that do not fit.
    """
    if clusters is None:
        return _normal(battles, _independent, anchors, errors)
    labels = np.asarray(clusters)
    if isinstance(battles, Table) or labels.shape != battles.left.shape:
        raise ValueError("clusters are given for battles, one per battle")
    shared = Shared(battles, labels)

    def bounds(ratings: Ratings) -> OneSided:
        return bounds_by_items(ratings, tally(battles), shared)

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, float]:
        return clustered_spread(found, part, shared), 1.0

    return _normal(battles, spread, anchors, errors, bounds)


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
    them are taken for independent. Errors are multiplied by `factor` of the items on which a contestant was compared
    within the rated group; nan for one item. at_least: those whose scores hardly vary, or who have few battles in the
    group, have at least the variance that the model alone gives, the diagonal of the information's inverse. anchors,
    errors: as of `sandwich`. Raises ValueError as `fit` does, and for battles of other contestants.
    """
    if tuple(shared.battles.contestants) != table.contestants:
        raise ValueError("the battles are those of the table's contestants, in its sequence")
    read = tally(shared.battles)
    wins, ties = np.maximum(table.wins - read.wins, 0), np.maximum(table.ties - read.ties, 0)
    others = Table(wins, ties, table.contestants)

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        alone = others.ordered(found.order)
        together = clustered_spread(found, part, shared) + independent_spread(found, alone, part)
        of_rest = alone.games[np.ix_(part, part)].sum(axis=1).astype(np.int64)  # each is an item by itself
        counts = items_of_each(found.order[part], shared) + of_rest
        return together, np.array([factor(count) for count in counts.tolist()])

    def bounds(ratings: Ratings) -> OneSided:
        return bounds_by_items(ratings, table, shared)

    return _normal(table, spread, anchors, errors, bounds, at_least=at_least)


def times_as_wide(table: Table, intervals: Intervals) -> FloatArray:
    """How many times as large the errors that `by_items` gave for the table are as those of independent battles, n.

    Both are at least what the model alone gives. inf: nothing can be said, of one item alone; nan: there is no rating.
    """
    alone = errors_of(covariance_of(fitted(table, {}), _independent, at_least=True))
    return np.where(np.isnan(intervals.errors) & ~np.isnan(alone), np.inf, intervals.errors / alone)


def as_wide_as(
    table: Table, times: ArrayLike, *, anchors: Mapping[str, float] | None = None, errors: Errors | None = None
) -> Intervals:
    """What `by_items` gives, without the battles: errors are so many `times` those of independent ones, by contestant.

    times: n, as `times_as_wide` gave them for more battles of the same kind; inf: there is no error; nan means the
    median of the others, and 1 where there are none. For one-sided bounds, times² battles are one observation.
    """
    given = np.asarray(times, dtype=np.float64)
    known = given[np.isfinite(given)]
    whole = np.where(np.isnan(given), np.median(known) if known.size else 1.0, given)
    whole[np.isinf(whole)] = np.nan

    def spread(found: Fitted, part: IntArray) -> tuple[FloatArray, FloatArray]:
        return independent_spread(found, found.table, part), whole[found.order[part]]

    def bounds(ratings: Ratings) -> OneSided:
        effects = np.maximum(np.maximum(whole[:, None], whole[None, :]), 1.0) ** 2  # nan where nothing can be said
        counts = np.nan_to_num(table.games / effects)
        return one_sided_bounds(ratings, counts, counts)

    return _normal(table, spread, anchors, errors, bounds, at_least=True)


def _independent(found: Fitted, part: IntArray) -> tuple[FloatArray, float]:
    return independent_spread(found, found.table, part), 1.0


def _normal(
    battles: Battles | Table,
    spread: Spread,
    anchors: Mapping[str, float] | None,
    errors: Errors | None,
    bounds: Bounds | None = None,
    *,
    at_least: bool = False,
) -> Intervals:
    """rating ± 1.96 errors from the spread of each rated group. bounds: as of `intervals_of`."""
    found = fitted(battles, anchors or {})
    known = anchor_covariance(found.table.contestants, anchors or {}, errors)
    return intervals_of(found, spread, known, bounds, at_least=at_least)


def intervals_of(
    found: Fitted, spread: Spread, known: FloatArray | float = 0.0, bounds: Bounds | None = None, *, at_least: bool
) -> Intervals:
    """rating ± 1.96 errors of a fit. known: the anchors' covariance, as `anchor_covariance` gives it. bounds: None
    takes battles for independent.
    """
    covariance, ratings = covariance_of(found, spread, known, at_least=at_least), ratings_of(found)
    errors = errors_of(covariance)
    if bounds:
        one_sided = bounds(ratings)
    else:
        games = found.table.ordered(np.argsort(found.order)).games
        one_sided = one_sided_bounds(ratings, games, games)
    far = NORMAL * errors
    return Intervals(ratings, ratings.values - far, ratings.values + far, errors, covariance, one_sided)


def covariance_of(found: Fitted, spread: Spread, known: FloatArray | float = 0.0, *, at_least: bool) -> FloatArray:
    """Of ratings in Elo², n × n in the contestants' own sequence; nan between groups and without a rating."""
    size = len(found.order)
    covariance, anchored = np.full((size, size), np.nan), np.broadcast_to(known, (size, size))
    for part in found.parts:
        inside = np.ix_(part, part)
        covariance[inside] = _covariance(found, part, *spread(found, part), anchored[inside], at_least=at_least)
    back = np.argsort(found.order)
    elo: FloatArray = ELO**2 * covariance[np.ix_(back, back)]
    return elo


def errors_of(covariance: FloatArray) -> FloatArray:
    """Standard errors in Elo, of a covariance in Elo²."""
    errors: FloatArray = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return errors


def _covariance(
    found: Fitted, part: IntArray, meat: FloatArray, times: FloatArray | float, known: FloatArray, *, at_least: bool
) -> FloatArray:
    """Of a part's strengths, in nats². times: by what errors are multiplied; known: the anchors' covariance."""
    is_fixed = found.is_fixed[part]
    free = np.flatnonzero(~is_fixed)
    expected, inverse, games = _curvature(found, int(part[0]))
    covariance = sandwiched(expected, meat, inverse, games, np.where(is_fixed, 1.0, times), at_least=at_least)
    if free.size == len(part):
        return covariance
    moves = response(expected, inverse, free)
    return covariance + moves @ known @ moves.T


@lru_cache(maxsize=1)
def _curvature(found: Fitted, group: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of a rated group, by its first member: the information, its inverse, and the games of each. Kept like fits."""
    part = np.flatnonzero(found.solution.groups == group)
    points = found.table.points[np.ix_(part, part)]
    expected = information(points, found.solution.strengths[part])
    return expected, bread(expected, np.flatnonzero(~found.is_fixed[part])), (points + points.T).sum(axis=1)


def sandwiched(
    expected: FloatArray,
    meat: FloatArray,
    inverse: FloatArray,
    games: FloatArray,
    factors: FloatArray,
    *,
    at_least: bool,
) -> FloatArray:
    """inverse · meat · inverse, with errors times `factors`, of strengths and, after them, the effects of covariates.

    expected: the information, of which `inverse` is the inverse. games: of each strength. at_least: as of `by_items`.
    """
    size = len(games)
    whole, is_little = meat.copy(), np.zeros(len(meat), dtype=bool)
    if at_least:
        whole[:size, :size], is_little[:size] = floored(meat[:size, :size], expected[:size, :size], games)
    covariance: FloatArray = inverse @ whole @ inverse * np.outer(factors, factors)
    short = np.diag(inverse) * factors**2 - np.diag(covariance)
    covariance += np.diag(np.where(is_little, np.fmax(short, 0.0), 0.0))
    return covariance


def floored(meat: FloatArray, expected: FloatArray, games: FloatArray) -> tuple[FloatArray, BoolArray]:
    """B with at least the spread that the model expects for those whose scores hardly vary, or are few; and who they
    are. expected: that spread, n × n. games: of each.

    Such scores are no sign of precision. What this adds has its effect on the others' ratings through the mean, too.
    """
    spread, own = np.diag(meat), np.diag(expected)
    is_little = (spread < LITTLE_SPREAD * own) | (games < FEW)
    least = np.maximum(own, np.finfo(float).tiny)  # an anchor may have no battles
    lacking = np.where(is_little, np.clip(1 - spread / least, 0.0, 1.0), 0.0)
    return meat + laplacian(-expected * np.maximum(lacking[:, None], lacking[None, :])), is_little


def bread(curvature: FloatArray, free: IntArray) -> FloatArray:
    """The inverse of the information of those who are free, 0 elsewhere; with all free, the one with sums of 0."""
    inverse = np.zeros_like(curvature)
    if free.size == len(curvature):
        inverse[:] = np.linalg.inv(gauged(curvature))
        inverse -= inverse.mean()
    else:
        inverse[np.ix_(free, free)] = np.linalg.inv(curvature[np.ix_(free, free)])
    return inverse


def response(curvature: FloatArray, inverse: FloatArray, free: IntArray) -> FloatArray:
    """How all strengths move with each strength that is fixed, n × n; columns of those who are free are 0."""
    moves = np.eye(len(curvature))
    moves[:, free] = 0.0
    if free.size < len(curvature):
        moves -= inverse @ curvature @ moves
    return moves


def anchor_covariance(contestants: tuple[str, ...], anchors: Mapping[str, float], errors: Errors | None) -> FloatArray:
    """The covariance of the anchors' ratings in nats², n × n, 0 for everybody else.

    errors: standard errors in Elo by name, those not named being known exactly; or a covariance in Elo² in the sequence
    of `anchors`. Raises ValueError for an error of a contestant that is no anchor, below 0, or of another shape.
    """
    matrix = np.zeros((len(contestants), len(contestants)))
    places = {name: index for index, name in enumerate(contestants)}
    if isinstance(errors, Mapping):
        if set(errors) - set(anchors) or any(not 0 <= error < math.inf for error in errors.values()):
            raise ValueError("errors are those of anchors, finite and not below 0")
        for name, error in errors.items():
            matrix[places[name], places[name]] = (error / ELO) ** 2
    elif errors is not None:
        if errors.shape != (len(anchors), len(anchors)) or not np.isfinite(errors).all():
            raise ValueError("the anchors' covariance has one finite row and column per anchor")
        where = [places[name] for name in anchors]
        matrix[np.ix_(where, where)] = errors / ELO**2
    return matrix


def independent_spread(found: Fitted, table: Table, part: IntArray) -> FloatArray:
    """B from a table: a battle of i and j, both of the part, adds (score - p)² to the pair's weight."""
    chosen = np.ix_(part, part)
    wins, ties = table.wins[chosen], table.ties[chosen]
    expected = chances(found.solution.strengths[part])
    decided = wins * expected.T**2
    return laplacian(decided + decided.T + ties * (0.5 - expected) ** 2)


def clustered_spread(found: Fitted, part: IntArray, shared: Shared) -> FloatArray:
    """B as the sum over items of the outer product of the item's summed scores, for the members of the part."""
    left, right, inside = sides(found, part, shared.battles)
    surprise = surprises(found.solution.strengths[part], left, right, shared.battles.score[inside])
    return spread_of_items(left, right, surprise, np.asarray(shared.items)[inside], len(part))


def sides(found: Fitted, part: IntArray, battles: Battles) -> tuple[IntArray, IntArray, IntArray]:
    """Left and right of the battles within a part, as places in it, and which battles those are."""
    place = np.full(len(found.order), -1, dtype=np.int64)
    place[found.order[part]] = np.arange(len(part))
    left, right = place[battles.left], place[battles.right]
    inside = np.flatnonzero((left >= 0) & (right >= 0))
    return left[inside], right[inside], inside


def surprises(strengths: FloatArray, left: IntArray, right: IntArray, score: FloatArray) -> FloatArray:
    """The left one's score less what was to be expected of it, by battle."""
    expected: FloatArray = 1.0 / (1.0 + np.exp(strengths[right] - strengths[left]))
    return score - expected


def spread_of_items(left: IntArray, right: IntArray, amounts: FloatArray, items: IntArray, count: int) -> FloatArray:
    """The sum over items of the outer product of the item's summed amounts · (e left - e right), count × count."""
    numbers = np.unique(items, return_inverse=True)[1].reshape(-1)
    order = np.argsort(numbers, kind="stable")
    total = np.zeros((count, count))
    step = max(MOST_AT_ONCE // count, 1)
    ends = np.searchsorted(numbers[order], np.arange(step, numbers.max(initial=-1) + 1 + step, step))
    for chosen in np.split(order, ends):
        if chosen.size:
            rows = (numbers[chosen] - numbers[chosen[0]]) * count
            cells = (int(rows[-1]) // count + 1) * count
            sums = np.bincount(rows + left[chosen], amounts[chosen], minlength=cells)
            sums -= np.bincount(rows + right[chosen], amounts[chosen], minlength=cells)
            total += sums.reshape(-1, count).T @ sums.reshape(-1, count)
    return total


# --- how much wider intervals are where there are few clusters ---


def factor(clusters: int) -> float:
    """√(g / (g - 1)) · t(g - 1) / 1.96: by how much errors from g clusters are too small; nan for g = 1.

    With it, rating ± 1.96 errors is a t interval. Of one cluster nothing can be learned about another.
    """
    if clusters < 2:
        return math.nan
    return math.sqrt(clusters / (clusters - 1)) * t_quantile(COVERAGE, clusters - 1) / NORMAL


def clusters_of_each(battles: Battles, clusters: ArrayLike) -> IntArray:
    """In how many clusters each contestant was compared. Shape n; clusters: one number from 0 on per battle."""
    count = len(battles.contestants)
    sides = np.concatenate([battles.left, battles.right])
    met = np.unique(np.tile(np.asarray(clusters, dtype=np.int64), 2) * count + sides)
    return np.bincount(met % max(count, 1), minlength=count)


def items_of_each(indices: IntArray, shared: Shared) -> IntArray:
    """On how many items each of these contestants met another of them."""
    battles = shared.battles
    is_one = np.zeros(len(battles.contestants), dtype=bool)
    is_one[indices] = True
    chosen = is_one[battles.left] & is_one[battles.right]
    inside = Battles(battles.left[chosen], battles.right[chosen], battles.score[chosen], battles.contestants)
    numbers = np.unique(np.asarray(shared.items)[chosen], return_inverse=True)[1].reshape(-1)
    return clusters_of_each(inside, numbers)[indices]


def careful(intervals: Intervals, clusters: IntArray) -> Intervals:
    """The same intervals with errors multiplied by `factor`. clusters: n, in how many each contestant was compared."""
    factors = np.array([factor(count) for count in clusters.tolist()])
    errors, values = intervals.errors * factors, intervals.ratings.values
    covariance = intervals.covariance * np.outer(factors, factors)
    lower, upper = values - NORMAL * errors, values + NORMAL * errors
    return replace(intervals, lower=lower, upper=upper, errors=errors, covariance=covariance)


def widening(battles: Battles, clusters: ArrayLike, beside: ArrayLike | None = None) -> float | Undefined:
    """The median, over who is rated, of the width by clusters over the width by others, those `beside`; without them
    over the width that takes battles for independent.

    The former is multiplied by `factor` of the number of clusters. Undefined for one cluster, of which nothing can be
    learned about another one, and where nothing varies.
    """
    count = len(np.unique(np.asarray(clusters)))
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    with np.errstate(invalid="ignore"):  # a spread of nothing may come out as less than nothing
        together, alone = sandwich(battles, clusters=clusters).errors, sandwich(battles, clusters=beside)
        errors = (alone if beside is None else careful(alone, clusters_of_each(battles, beside))).errors
    known = np.isfinite(errors) & np.isfinite(together) & (np.nan_to_num(errors) > NO_SPREAD)
    if not known.any():
        return Undefined(Reason.NO_SPREAD)
    return float(np.median(together[known] / errors[known])) * factor(count)


# --- bounds for contestants without a finite rating: those that won, or lost, every battle with the rated ones ---


def one_sided_bounds(ratings: Ratings, hardest: FloatArray, met: FloatArray) -> OneSided:
    """hardest, met: n × n, how many independent observations the battles of each pair are, for bounds and for telling
    one contestant from another without them; fractions are allowed.
    """
    size = len(ratings.contestants)
    lower, upper, weights = np.full(size, np.nan), np.full(size, np.nan), np.zeros((size, size))
    rated, above = ~np.isnan(ratings.values), ratings.above
    for index in np.flatnonzero(above | ratings.below).tolist():
        counts, opponents = hardest[index, rated], ratings.values[rated] / ELO
        if counts.sum() < FEWEST:
            continue
        sign = 1.0 if above[index] else -1.0
        bound, weights[index, rated] = _bound(sign * opponents, counts)
        (lower if above[index] else upper)[index] = ELO * sign * bound
    return OneSided(lower, upper, weights, ratings.over & (0.5**met <= TAIL))


def bounds_by_items(ratings: Ratings, table: Table, shared: Shared) -> OneSided:
    """Battles of the table that are not shared are independent.

    Battles on one item may depend on each other in any way: the probability of winning all of them is at most that of
    winning the hardest one (Fréchet, Ann. Univ. Lyon 14 (1951)), so that each item counts as that one battle.
    """
    battles, size = shared.battles, len(table.contestants)
    who, other = np.concatenate([battles.left, battles.right]), np.concatenate([battles.right, battles.left])
    item = np.unique(np.tile(np.asarray(shared.items), 2), return_inverse=True)[1].reshape(-1)

    def counted(first: IntArray, second: IntArray) -> FloatArray:
        return np.bincount(first * size + second, minlength=size * size).reshape(size, size).astype(np.float64)

    # Of the rated ones that each met on an item, the last in this order is the hardest to beat, or to lose to.
    values, above, below = ratings.values, ratings.above, ratings.below
    chosen = np.flatnonzero((above | below)[who] & ~np.isnan(values[other]))
    hardness = np.where(above[who[chosen]], values[other[chosen]], -values[other[chosen]])
    chosen = chosen[np.lexsort((hardness, item[chosen], who[chosen]))]
    changes = (who[chosen][1:] != who[chosen][:-1]) | (item[chosen][1:] != item[chosen][:-1])
    last = chosen[np.append(changes, True)[: len(chosen)]]
    met = np.unique(np.stack([who, other, item])[:, ratings.over[who, other]], axis=1)
    alone = np.maximum(table.games - tally(battles).games, 0.0)
    return one_sided_bounds(ratings, alone + counted(who[last], other[last]), alone + counted(met[0], met[1]))


def _bound(opponents: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """The strength (nats) at which the product of p(beats j)^counts[j] is 2.5 %, and its derivatives.

    This is the exact one-sided 97.5 % limit for a number of successes that is as high as it can be (Clopper & Pearson),
    with the opponents' strengths taken as given.
    """
    met = counts > 0
    end = -math.log(math.expm1(-math.log(TAIL) / float(counts.sum())))  # were all opponents equal
    low, high = float(opponents[met].min()) + end, float(opponents[met].max()) + end
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_low = -float(counts @ np.logaddexp(0.0, opponents - middle)) < math.log(TAIL)
        low, high = (middle, high) if is_low else (low, middle)
    pull = counts / (1.0 + np.exp(high - opponents))
    return high, pull / pull.sum()
