"""Bounds for contestants without a finite rating: those that won, or lost, every battle with the rated ones."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table, tally
from leaderboard.ratings.bradley_terry import Ratings
from leaderboard.ratings.scale import ELO, TAIL

FEWEST = 2  # observations: nothing can be learned from one about another
BISECTIONS = 100


@dataclass(frozen=True, slots=True, eq=False)
class OneSided:
    """In the contestants' sequence; nan, 0 or False where nothing is known.

    lower: ratings (Elo) of those above the rated ones: at a lower rating, the probability of winning every one of
    their battles with the rated would be below 2.5 %. upper: the mirror, for those below. weights: n × n, how far a
    bound moves with each rated contestant's rating; rows sum to 1. surely: [i, j], i won every battle with j, which
    two equal contestants would do with a probability of 2.5 % at most.
    """

    lower: FloatArray
    upper: FloatArray
    weights: FloatArray
    surely: BoolArray


def from_counts(ratings: Ratings, counts: FloatArray) -> OneSided:
    """counts: n × n, how many independent observations the battles of each pair are; fractions are allowed."""
    return _one_sided(ratings, counts, counts)


def from_items(ratings: Ratings, table: Table, battles: Battles, items: ArrayLike) -> OneSided:
    """items: one whole number per battle. Battles of the table that are not among `battles` are independent.

    Battles on one item may depend on each other in any way: the probability of winning all of them is at most that of
    winning the hardest one (Fréchet, Ann. Univ. Lyon 14 (1951)), so that each item counts as that one battle.
    """
    size, told = len(table.contestants), tally(battles)
    alone = np.maximum(table.games - told.games, 0.0)
    who, other = np.concatenate([battles.left, battles.right]), np.concatenate([battles.right, battles.left])
    item = np.unique(np.tile(np.asarray(items), 2), return_inverse=True)[1].reshape(-1)
    hardest = alone + _hardest(ratings, who, other, item)
    is_over = ratings.over[who, other]
    met = np.unique(np.stack([who, other, item])[:, is_over], axis=1)
    return _one_sided(ratings, hardest, alone + _counted(met[0], met[1], size))


def _one_sided(ratings: Ratings, hardest: FloatArray, met: FloatArray) -> OneSided:
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


def _bound(opponents: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """The strength (nats) at which the product of p(beats j)^counts[j] is 2.5 %, and its derivatives.

    This is the exact one-sided 97.5 % limit for a number of successes that is as high as it can be, with the
    opponents' strengths taken as given. Source: Clopper & Pearson, Biometrika 26 (1934).
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


def _hardest(ratings: Ratings, who: IntArray, other: IntArray, item: IntArray) -> FloatArray:
    """[i, j]: on how many items j was, of the rated ones that i met there, the hardest for i to beat, or to lose to."""
    values, above, below = ratings.values, ratings.above, ratings.below
    chosen = (above | below)[who] & ~np.isnan(values[other])
    who, other, item = who[chosen], other[chosen], item[chosen]
    hardness = np.where(above[who], values[other], -values[other])
    order = np.lexsort((hardness, item, who))
    who, other, item = who[order], other[order], item[order]
    is_last = np.append((who[1:] != who[:-1]) | (item[1:] != item[:-1]), True)[: len(who)]
    return _counted(who[is_last], other[is_last], len(values))


def _counted(who: IntArray, other: IntArray, size: int) -> FloatArray:
    return np.bincount(who * size + other, minlength=size * size).reshape(size, size).astype(np.float64)
