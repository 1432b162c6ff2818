"""Intervals of ratings by the bootstrap: many tables drawn from the one, all fitted at once."""

import math
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table
from leaderboard.ratings.bradley_terry import ratings_of
from leaderboard.ratings.draws import Cells, Kind, cells_of
from leaderboard.ratings.fitting import Errors, Fitted, anchor_covariance, fitted, rated_groups
from leaderboard.ratings.intervals import Intervals, bread, response
from leaderboard.ratings.one_sided import from_counts
from leaderboard.ratings.replicates import climb
from leaderboard.ratings.scale import ELO, MEAN, TAIL
from leaderboard.ratings.solution import solve

CHUNK = 131_072  # numbers in a chunk's table, 1 MB: what a core's cache holds
MOST_THREADS = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What the replicates of one rated group share."""

    cells: Cells
    strengths: FloatArray
    is_fixed: BoolArray
    inverse: FloatArray  # of the information at the maximum
    moves: FloatArray  # of all strengths with those that are fixed
    root: FloatArray  # root @ root.T is the anchors' covariance
    kind: Kind


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
    link of the table. anchors with errors are drawn anew in each round. A resample that leaves somebody unbeaten, or
    without a win, counts as infinitely high or low, and one that cannot place somebody as either. Ratings are relative
    to the component's mean in each resample.
    Sources: Efron, Ann. Statist. 7 (1979); Rubin, "The Bayesian bootstrap", Ann. Statist. 9 (1981).
    Raises ValueError as `fit` does, for rounds below 1, and for fractions of battles unless bayesian.
    """
    if rounds < 1:
        raise ValueError("a bootstrap needs a round or more")
    found = fitted(battles, anchors or {})
    known = anchor_covariance(found.table.contestants, anchors or {}, errors)
    samples = np.full((rounds, len(found.order)), np.nan)
    seeds = np.random.SeedSequence(seed).spawn(len(found.parts))
    for part, source in zip(found.parts, seeds, strict=True):
        samples[:, part] = _replicates(_prepared(found, part, known, kind), rounds, source)
    return _intervals(found, MEAN + ELO * samples)


def _prepared(found: Fitted, part: IntArray, known: FloatArray, kind: Kind) -> _Part:
    points, strengths = found.table.points[np.ix_(part, part)], found.solution.strengths[part]
    free = np.flatnonzero(~found.is_fixed[part])
    inverse = bread(points, strengths, free)
    sizes, axes = np.linalg.eigh(known[np.ix_(part, part)])
    root = axes * np.sqrt(np.maximum(sizes, 0.0))
    moves = response(points, strengths, inverse, free)
    return _Part(cells_of(found.table, part, kind), strengths, found.is_fixed[part], inverse, moves, root, kind)


def _replicates(part: _Part, rounds: int, seeds: np.random.SeedSequence) -> FloatArray:
    """Strengths of each round, rounds × n, in nats. Chunks have seeds of their own: threads change nothing."""
    step = max(1, CHUNK // part.strengths.size**2)
    sizes = [min(step, rounds - start) for start in range(0, rounds, step)]
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as threads:
        chunks = threads.map(_chunk, [part] * len(sizes), sizes, seeds.spawn(len(sizes)))
        return np.concatenate(list(chunks))


def _chunk(part: _Part, rounds: int, seed: np.random.SeedSequence) -> FloatArray:
    random = np.random.default_rng(seed)
    points = part.cells.drawn(random, rounds, part.kind)
    shifts = random.standard_normal((rounds, len(part.root))) @ part.root.T
    start = part.strengths + shifts @ part.moves.T
    strengths, done = climb(points, start, part.inverse, part.is_fixed)
    for index in np.flatnonzero(~done):
        strengths[index] = _extended(part, points[index], start[index])
    return strengths


def _extended(part: _Part, points: FloatArray, start: FloatArray) -> FloatArray:
    """One table's maximum: infinite for those who stand above or below the others, nan where nothing links them."""
    fixed = np.where(part.is_fixed, start, np.nan)
    solution = solve(points, fixed)
    groups = rated_groups(points, solution, fixed)
    if len(groups) != 1:
        return _ends(solution.above)
    [group] = groups.values()
    inside = solution.groups == group
    found = np.full(len(points), np.nan)
    found[inside] = solution.strengths[inside]
    if not part.is_fixed.any():
        found[inside] += part.strengths[inside].mean()
    found[solution.above[:, group]] = np.inf
    found[solution.above[group]] = -np.inf
    return found


def _ends(above: BoolArray) -> FloatArray:
    """Where no group is rated: those with somebody below and nobody above are infinitely high, and the reverse."""
    over, under = above.any(axis=1), above.any(axis=0)
    return np.select([over & ~under, under & ~over], [np.inf, -np.inf], np.nan)


def _intervals(found: Fitted, samples: FloatArray) -> Intervals:
    """Bounds, and the covariance of those who were finite in every round."""
    size = len(found.order)
    lower, upper, covariance = np.full(size, np.nan), np.full(size, np.nan), np.full((size, size), np.nan)
    for part in found.parts:
        lower[part], upper[part] = _bounds(samples[:, part])
        finite = part[np.isfinite(samples[:, part]).all(axis=0)]
        if len(samples) > 1 and finite.size:
            covariance[np.ix_(finite, finite)] = np.cov(samples[:, finite], rowvar=False)
    back = np.argsort(found.order)
    moved = covariance[np.ix_(back, back)]
    ratings = ratings_of(found)
    one_sided = from_counts(ratings, found.table.ordered(back).games)
    return Intervals(ratings, lower[back], upper[back], np.sqrt(np.diag(moved)), moved, one_sided)


def _bounds(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The 2.5 % and 97.5 % order statistics of each column, without interpolation, since some may be infinite.

    An unknown value may be anything: it counts as low below, and as high above.
    """
    unknown, last = np.isnan(samples), len(samples) - 1
    low = np.sort(np.where(unknown, -np.inf, samples), axis=0)[math.floor(TAIL * last)]
    high = np.sort(np.where(unknown, np.inf, samples), axis=0)[math.ceil((1 - TAIL) * last)]
    return low, high
