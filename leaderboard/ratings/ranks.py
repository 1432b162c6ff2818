"""What is known of ranks: which contestants can be distinguished, and who may be the best.

Sources: Goldstein & Healy, J. R. Statist. Soc. A 158 (1995); Goldstein & Spiegelhalter, ibid. 159 (1996).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from leaderboard.ratings.intervals import Intervals
from leaderboard.ratings.values import NORMAL, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """In the contestants' sequence and within each component; nan for those of whom too little is known.

    rank: 1 + how many are rated higher, or are above by wins that never lead back; equals share a rank. best, worst:
    the 95 % interval of the rank, 1 + how many are surely higher, and n less those surely lower, n being how many have
    a rank. group: contestants of one group cannot be distinguished from the group's highest, 1 first. first: the
    probability of being the strongest of the component, 0 to 1; nan without a rating, and where others are above the
    rated.
    """

    rank: FloatArray
    best: FloatArray
    worst: FloatArray
    group: FloatArray
    first: FloatArray


def ranks(
    intervals: Intervals, *, draws: int = 10_000, seed: int = 0, is_known: Sequence[bool] | BoolArray | None = None
) -> Ranks:
    """Ranks from ratings, their joint covariance and one-sided bounds. is_known: n, of whom enough is known; all of
    those that have an error, a bound, or are surely above or below another without it.

    Two rated contestants are distinguished when their difference is more than 1.96 of its standard errors: each pair at
    95 %, not all pairs together. One without a finite rating is distinguished from another by its bound in place of its
    rating, or by having won, or lost, every battle with it, see `OneSided`. `first` counts joint normal draws. The same
    for the same seed, in whatever sequence contestants are.
    """
    ratings, values = intervals.ratings, intervals.ratings.values
    known = has_place(intervals) & (True if is_known is None else np.asarray(is_known, dtype=bool))
    found = Ranks(*(np.full(len(values), np.nan) for _ in range(5)))
    place = {name: index for index, name in enumerate(ratings.contestants)}
    for component in ratings.components:
        members = np.array([place[name] for name in sorted(component)], dtype=np.int64)
        part = members[known[members]]
        if not part.size:
            continue
        higher = ratings.over[np.ix_(part, part)] | (values[part][:, None] - values[part][None, :] > 1e-9)
        surely = _surely_above(intervals, part)
        found.rank[part] = rank = 1 + higher.sum(axis=0)
        found.best[part] = 1 + surely.sum(axis=0)
        found.worst[part] = len(part) - surely.sum(axis=1)
        found.group[part] = _groups(np.argsort(rank, kind="stable"), surely)
        rated = part[~np.isnan(values[part])]
        if rated.size and not ratings.above[part].any():
            sizes, axes = np.linalg.eigh(intervals.covariance[np.ix_(rated, rated)])
            root = axes * np.sqrt(np.maximum(sizes, 0.0))
            found.first[rated] = _shares_first(values[rated], root, _lots(seed, draws, len(rated)))
    return found


@lru_cache(maxsize=1)
def _lots(seed: int, draws: int, size: int) -> FloatArray:
    """Standard normal numbers, draws × size. Kept: the next look at a board of as many contestants takes the same."""
    lots = np.random.default_rng(seed).standard_normal((draws, size))
    lots.flags.writeable = False
    return lots


def _shares_first(values: FloatArray, root: FloatArray, lots: FloatArray) -> FloatArray:
    """The share of draws, values + root · lots, in which each is the largest. Left out are those that cannot be: root
    times lots is at most the product of their lengths.
    """
    top = int(np.argmax(values))
    least = float((values[top] + lots @ root[top]).min())
    length = math.sqrt(float(np.einsum("ij,ij->i", lots, lots).max()))
    near = np.flatnonzero(values + length * np.sqrt((root**2).sum(axis=1)) >= least)
    largest = near[np.argmax(values[near] + lots @ root[near].T, axis=1)]
    return np.bincount(largest, minlength=len(values)) / len(lots)


def has_place(intervals: Intervals) -> BoolArray:
    """Who can be distinguished from others: by an error, a bound, or by winning, or losing, every battle with one."""
    one_sided, rated = intervals.one_sided, ~np.isnan(intervals.ratings.values)
    has_bound = ~np.isnan(one_sided.lower) | ~np.isnan(one_sided.upper)
    is_told = has_bound | one_sided.surely.any(axis=0) | one_sided.surely.any(axis=1)
    found: BoolArray = np.where(rated, ~np.isnan(intervals.errors), intervals.ratings.is_placeable & is_told)
    return found


def _surely_above(intervals: Intervals, part: IntArray) -> BoolArray:
    """[i, j]: i is above j by more than 1.96 standard errors of the difference of their ratings or bounds, or won
    every battle with j. A bound varies with the ratings of the opponents that it rests on.
    """
    values, one_sided = intervals.ratings.values, intervals.one_sided
    rated, lower, upper = ~np.isnan(values), one_sided.lower[part], one_sided.upper[part]
    at_least = np.where(rated[part], values[part], np.where(np.isnan(lower), -np.inf, lower))
    at_most = np.where(rated[part], values[part], np.where(np.isnan(upper), np.inf, upper))
    if rated[part].all():
        covariance = np.nan_to_num(intervals.covariance[np.ix_(part, part)])
    else:
        weights = np.where(rated[:, None], np.eye(len(rated)), one_sided.weights)[np.ix_(part, rated)]
        covariance = weights @ np.nan_to_num(intervals.covariance[np.ix_(rated, rated)]) @ weights.T
    variances = np.diag(covariance)
    errors = np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * covariance, 0.0))
    above: BoolArray = at_least[:, None] - at_most[None, :] > np.maximum(NORMAL * errors, 1e-9)
    return above | one_sided.surely[np.ix_(part, part)]


def _groups(sequence: IntArray, above: BoolArray) -> FloatArray:
    """From the top: a new group begins with the first whom the group's highest surely surpasses."""
    groups = np.zeros(len(above))
    number, highest = 0, -1
    for index in sequence.tolist():
        if highest < 0 or above[highest, index]:
            number, highest = number + 1, index
        groups[index] = number
    return groups
