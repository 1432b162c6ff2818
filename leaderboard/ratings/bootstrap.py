"""Intervals of ratings by the bootstrap: many tables drawn from the one, all fitted at once.

Sources: Efron, Ann. Statist. 7 (1979); Rubin, "The Bayesian bootstrap", Ann. Statist. 9 (1981).
"""

import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.ratings.bradley_terry import Fitted, fitted, information, rated_groups, ratings_of, solve
from leaderboard.ratings.intervals import Errors, Intervals, anchor_covariance, bread, one_sided_bounds, response
from leaderboard.ratings.values import ELO, MEAN, TAIL, Battles, BoolArray, FloatArray, IntArray, Table

Kind = Literal["multinomial", "bayesian"]
LARGE = 10_000  # battles
SPARED = 4.0  # standard deviations of a Poisson sum: above the number wanted once in 30,000 draws, then drawn again

MOST_CHORDS = 12
MOST_STEPS = 10
FINE = 1e-8  # nats
FURTHEST = 30.0  # nats in one step
MOST_GRADIENTS = 60
ROUGH = 1e-6  # of the squared length of the slope: three digits of a step
CHUNK = 131_072  # numbers in a chunk's table, 1 MB: what a core's cache holds
MOST_THREADS = 4


def bootstrap(
    battles: Battles | Table,
    rounds: int = 1000,
    seed: int = 0,
    *,
    kind: Kind = "multinomial",
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
) -> Intervals:
    """95 % percentile intervals from `rounds` resamples of the battles; the same for the same seed.

    kind: "multinomial" draws battles with replacement; "bayesian" weighs them at random, is faster, and never loses a
    link of the table. anchors with errors are drawn anew in each round. A resample that leaves a contestant unbeaten,
    or without a win, counts as infinitely high or low, and one that cannot place a contestant as either. Ratings are
    relative to the component's mean in each resample. Raises ValueError as `fit` does, for rounds below 1, and for
    fractions of battles unless bayesian.
    """
    if rounds < 1:
        raise ValueError("a bootstrap needs a round or more")
    found = fitted(battles, anchors or {})
    known = anchor_covariance(found.table.contestants, anchors or {}, errors)
    size, back = len(found.order), np.argsort(found.order)
    lower, upper, covariance = np.full(size, np.nan), np.full(size, np.nan), np.full((size, size), np.nan)
    seeds = np.random.SeedSequence(seed).spawn(len(found.parts))
    for part, source in zip(found.parts, seeds, strict=True):
        samples = MEAN + ELO * _replicates(_part_of(found, part, known, kind), rounds, source)
        lower[part], upper[part] = _bounds(samples)
        is_finite = np.isfinite(samples).all(axis=0)
        if rounds > 1 and is_finite.any():
            covariance[np.ix_(part[is_finite], part[is_finite])] = np.cov(samples[:, is_finite], rowvar=False)
    ratings, games, moved = ratings_of(found), found.table.ordered(back).games, covariance[np.ix_(back, back)]
    bounds = one_sided_bounds(ratings, games, games)
    return Intervals(ratings, lower[back], upper[back], np.sqrt(np.diag(moved)), moved, bounds)


def _bounds(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The 2.5 % and 97.5 % order statistics of each column, without interpolation, since some may be infinite.

    An unknown value may be anything: it counts as low below, and as high above.
    """
    unknown, last = np.isnan(samples), len(samples) - 1
    low = np.sort(np.where(unknown, -np.inf, samples), axis=0)[math.floor(TAIL * last)]
    high = np.sort(np.where(unknown, np.inf, samples), axis=0)[math.ceil((1 - TAIL) * last)]
    return low, high


# --- resampled tables ---


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What the replicates of one rated group share: how its tables are drawn, and where their maxima are looked for.

    counts: battles per cell that holds any; a pair i < j has three cells: won, tied and lost by i. where: which of the
    3 · pairs columns a cell is. gather: for each of the n × n places of a table, its column among [points of i, points
    of j, 0]. inverse: of the information at the maximum. moves: of all strengths with those that are fixed. root:
    root @ root.T is the anchors' covariance.
    """

    kind: Kind
    counts: FloatArray
    where: IntArray
    gather: IntArray
    pairs: int
    strengths: FloatArray
    is_fixed: BoolArray
    inverse: FloatArray
    moves: FloatArray
    root: FloatArray

    def drawn(self, random: np.random.Generator, rounds: int) -> FloatArray:
        """points[round, i, j], rounds × n × n: tables of as many battles drawn with replacement (multinomial), or the
        battles with random weights of mean 1 (bayesian: Dirichlet weights but for their sum, which changes nothing).
        """
        pairs, size = self.pairs, len(self.strengths)
        columns = np.zeros((rounds, 3 * pairs))
        if self.kind == "bayesian":
            columns[:, self.where] = random.standard_gamma(self.counts, size=(rounds, len(self.counts)))
        else:
            columns[:, self.where] = _multinomial(random, self.counts, rounds)
        taken = np.zeros((rounds, 2 * pairs + 1))
        half = columns[:, pairs : 2 * pairs] / 2
        np.add(columns[:, :pairs], half, out=taken[:, :pairs])
        np.add(columns[:, 2 * pairs :], half, out=taken[:, pairs : 2 * pairs])
        return np.take(taken, self.gather, axis=1).reshape(rounds, size, size)


def _part_of(found: Fitted, part: IntArray, known: FloatArray, kind: Kind) -> _Part:
    """Raises ValueError when whole battles are to be drawn and a count is a fraction."""
    chosen = np.ix_(part, part)
    wins, ties = found.table.wins[chosen], found.table.ties[chosen]
    upper, lower = np.nonzero(np.triu(wins + wins.T + ties, 1))
    counts = np.concatenate([wins[upper, lower], ties[upper, lower], wins[lower, upper]])
    if kind == "multinomial" and (counts != np.rint(counts)).any():
        raise ValueError("fractions of battles cannot be drawn: use the bayesian bootstrap")
    where, size, pairs = np.flatnonzero(counts), len(part), len(upper)
    gather = np.full(size * size, 2 * pairs, dtype=np.int64)
    gather[upper * size + lower] = np.arange(pairs)
    gather[lower * size + upper] = np.arange(pairs, 2 * pairs)
    strengths, is_fixed = found.solution.strengths[part], found.is_fixed[part]
    curvature, free = information(found.table.points[chosen], strengths), np.flatnonzero(~is_fixed)
    inverse = bread(curvature, free)
    sizes, axes = np.linalg.eigh(known[chosen])
    root, moves = axes * np.sqrt(np.maximum(sizes, 0.0)), response(curvature, inverse, free)
    return _Part(kind, counts[where], where, gather, pairs, strengths, is_fixed, inverse, moves, root)


def _multinomial(random: np.random.Generator, counts: FloatArray, rounds: int) -> FloatArray:
    """Counts of as many battles drawn with replacement, rounds × cells.

    Large tables are drawn as Poisson counts with a slightly lower mean and topped up with single battles, which is the
    same law in half of the time: Poisson counts are multinomial given their sum, whatever that is, as long as it is
    not above the number wanted.
    """
    total = int(counts.sum())
    if total < LARGE:
        return random.multinomial(total, counts / total, size=rounds).astype(np.float64)
    means = counts * (1 - SPARED / math.sqrt(total))
    drawn = random.poisson(means, size=(rounds, len(means)))
    while (above := np.flatnonzero(drawn.sum(axis=1) > total)).size:
        drawn[above] = random.poisson(means, size=(len(above), len(means)))
    missing = total - drawn.sum(axis=1)
    single = np.repeat(np.arange(len(counts)), counts.astype(np.int64))[random.integers(total, size=missing.sum())]
    rows = np.repeat(np.arange(rounds) * len(counts), missing)
    drawn += np.bincount(rows + single, minlength=drawn.size).reshape(drawn.shape)
    return drawn.astype(np.float64)


def _replicates(part: _Part, rounds: int, seeds: np.random.SeedSequence) -> FloatArray:
    """Strengths of each round, rounds × n, in nats. Chunks have seeds of their own: threads change nothing."""
    step = max(1, CHUNK // part.strengths.size**2)
    sizes = [min(step, rounds - start) for start in range(0, rounds, step)]

    def chunk(rounds: int, seed: np.random.SeedSequence) -> FloatArray:
        random = np.random.default_rng(seed)
        points = part.drawn(random, rounds)
        shifts = random.standard_normal((rounds, len(part.root))) @ part.root.T
        start = part.strengths + shifts @ part.moves.T
        strengths, done = _climb(points, start, part.inverse, part.is_fixed)
        for index in np.flatnonzero(~done):
            strengths[index] = _extended(part, points[index], start[index])
        return strengths

    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as threads:
        return np.concatenate(list(threads.map(chunk, sizes, seeds.spawn(len(sizes)))))


def _extended(part: _Part, points: FloatArray, start: FloatArray) -> FloatArray:
    """One table's maximum: infinite for those above or below the others, nan where nothing links them.

    Where no group is rated, those with others below and none above are infinitely high, and the reverse.
    """
    fixed = np.where(part.is_fixed, start, np.nan)
    solution = solve(points, fixed)
    groups = rated_groups(points, solution, fixed)
    if len(groups) != 1:
        over, under = solution.above.any(axis=1), solution.above.any(axis=0)
        return np.select([over & ~under, under & ~over], [np.inf, -np.inf], np.nan)
    [group] = groups.values()
    inside = solution.groups == group
    found = np.full(len(points), np.nan)
    found[inside] = solution.strengths[inside]
    if not part.is_fixed.any():
        found[inside] += part.strengths[inside].mean()
    found[solution.above[:, group]] = np.inf
    found[solution.above[group]] = -np.inf
    return found


# --- many tables of one shape fitted at once, each starting near its maximum ---


def _climb(
    points: FloatArray, start: FloatArray, inverse: FloatArray, is_fixed: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """The maxima of all tables, rounds × n in nats, and for which rounds they were found: not where battles link only
    some, whose distance to the others is anything.

    points: rounds × n × n. inverse: that of the information at the maximum of the table they were drawn from. First
    steps go by that one matrix, and cost a pass over the tables; those left over go on with Newton's own, if everybody
    who is free has both won and lost.
    """
    strengths, done = _chords(points, start, inverse)
    met = (points + points.transpose(0, 2, 1)) > 0
    before, reached = np.zeros((2, *points.shape[:2]), dtype=bool)
    reached[:, is_fixed if is_fixed.any() else [0]] = True
    while not (reached == before).all():
        before, reached = reached, reached | (met & reached[:, :, None]).any(axis=1)
    is_linked = reached.all(axis=1)  # battles lead from one to all others, or from those who are fixed
    done &= is_linked
    has_both = (points.sum(axis=2) > 0) & (points.sum(axis=1) > 0)
    left = np.flatnonzero(~done & is_linked & (has_both | is_fixed).all(axis=1))
    if left.size:
        strengths[left], done[left] = _newton(points[left], start[left], inverse)
    return strengths, done


def _chords(points: FloatArray, start: FloatArray, inverse: FloatArray) -> tuple[FloatArray, BoolArray]:
    strengths, totals = start.copy(), points.sum(axis=2)
    games = points + points.transpose(0, 2, 1)
    shares = np.empty_like(games)
    largest = np.full(len(points), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(MOST_CHORDS):
            odds = np.exp(strengths)
            np.add(odds[:, :, None], odds[:, None, :], out=shares)
            np.divide(games, shares, out=shares)
            step = _times(totals - odds * shares.sum(axis=2), inverse)
            strengths += step
            largest = np.abs(step).max(axis=1)
            if (largest < FINE).all():
                break
    return strengths, largest < FINE


def _newton(points: FloatArray, start: FloatArray, inverse: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Undamped: a table whose steps grow beyond bounds is left as not found."""
    strengths, left = start.copy(), np.arange(len(points))
    done = np.zeros(len(points), dtype=bool)
    for _ in range(MOST_STEPS):
        step = _newton_step(points[left], strengths[left], inverse)
        strengths[left] += step
        largest = np.abs(step).max(axis=1)
        done[left[largest < FINE]] = True
        left = left[(largest >= FINE) & (largest < FURTHEST)]
        if not left.size:
            break
    return strengths, done


def _newton_step(points: FloatArray, strengths: FloatArray, inverse: FloatArray) -> FloatArray:
    """Curvature⁻¹ · slope to three digits, by conjugate gradients with the one inverse as preconditioner."""
    with np.errstate(over="ignore"):
        wins = 1.0 / (1.0 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    losses = wins.transpose(0, 2, 1)
    surprise = points * losses
    weights = (points + points.transpose(0, 2, 1)) * wins * losses
    own = weights.sum(axis=2)
    residual = surprise.sum(axis=2) - surprise.sum(axis=1)
    better = _times(residual, inverse)
    step: FloatArray = np.zeros_like(residual)
    direction = better
    size = first = _dot(residual, better)
    for _ in range(MOST_GRADIENTS):
        pulled = own * direction - np.einsum("rij,rj->ri", weights, direction)
        length = np.where(size > ROUGH * first, _ratio(size, _dot(direction, pulled)), 0.0)
        step += length * direction
        residual = residual - length * pulled
        better = _times(residual, inverse)
        last, size = size, _dot(residual, better)
        if not (size > ROUGH * first).any():
            break
        direction = better + _ratio(size, last) * direction
    return step


def _times(rows: FloatArray, matrix: FloatArray) -> FloatArray:
    """rows @ matrix, without the threads of a linear algebra library: ours already keep all cores busy."""
    product: FloatArray = np.einsum("ri,ij->rj", rows, matrix)
    return product


def _dot(first: FloatArray, second: FloatArray) -> FloatArray:
    product: FloatArray = np.einsum("ri,ri->r", first, second)[:, None]
    return product


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    quotient: FloatArray = np.divide(over, under, out=np.zeros_like(over), where=under > 0)
    return quotient
