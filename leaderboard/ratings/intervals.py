"""Intervals of ratings in closed form: the sandwich of the likelihood's curvature and the battles' own spread."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table, as_table
from leaderboard.ratings.bradley_terry import Ratings, ratings_of
from leaderboard.ratings.clusters import clustered_spread
from leaderboard.ratings.fitting import Errors, Fitted, anchor_covariance, fitted
from leaderboard.ratings.newton import chances, gauged, information, laplacian
from leaderboard.ratings.one_sided import OneSided, from_counts, from_items
from leaderboard.ratings.scale import ELO, NORMAL


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
