"""Bradley-Terry with one number per battle beside the strengths: maximum likelihood and sandwich."""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.battles import Battles
from leaderboard.ratings.newton import FINE, gauged, laplacian
from leaderboard.ratings.undefined import Reason, Undefined

MOST_STEPS = 60
MOST_HALVINGS = 40
FURTHEST = 40.0  # nats: a battle decided by more than e^40 is explained without error
LEAST_PRECISION = 1e-9  # of the effect's own information that is left beside the strengths


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """strengths with mean 0, the covariate's effect and its standard error, all in nats."""

    strengths: FloatArray
    effect: float
    error: float


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Battles among `count` contestants, with the covariate x of each, and its cluster, numbered from 0."""

    left: IntArray
    right: IntArray
    score: FloatArray
    x: FloatArray
    cluster: IntArray
    count: int

    @classmethod
    def of(cls, battles: Battles, members: IntArray, covariate: FloatArray, clusters: IntArray) -> "Rows":
        """The battles among the members, who are numbered anew."""
        place = np.full(len(battles.contestants), -1, dtype=np.int64)
        place[members] = np.arange(len(members))
        left, right = place[battles.left], place[battles.right]
        inside = (left >= 0) & (right >= 0)
        numbers = np.unique(clusters[inside], return_inverse=True)[1].reshape(-1)
        return cls(left[inside], right[inside], battles.score[inside], covariate[inside], numbers, len(members))

    @property
    def clusters(self) -> int:
        return int(self.cluster.max(initial=-1)) + 1

    def margins(self, parameters: FloatArray) -> FloatArray:
        """The log odds of the left ones' wins, from the strengths and, at last, the effect."""
        margins: FloatArray = parameters[self.left] - parameters[self.right] + parameters[-1] * self.x
        return margins

    def gradient(self, surprise: FloatArray) -> FloatArray:
        """The sum of surprise · (e left - e right, x), strengths first and the effect last."""
        slopes = self._to_each(surprise)
        return np.append(slopes, surprise @ self.x)

    def products(self, weights: FloatArray) -> FloatArray:
        """The sum of weights · outer products of (e left - e right, x), (count + 1)²."""
        table = _sums(self.left * self.count + self.right, weights, self.count**2).reshape(self.count, self.count)
        matrix = np.zeros((self.count + 1, self.count + 1))
        matrix[:-1, :-1] = laplacian(table + table.T)
        matrix[:-1, -1] = matrix[-1, :-1] = self._to_each(weights * self.x)
        matrix[-1, -1] = weights @ self.x**2
        return matrix

    def spread(self, surprise: FloatArray) -> FloatArray:
        """The sum over clusters of the outer product of the cluster's part of the gradient, (count + 1)²."""
        size, clusters = self.count + 1, self.clusters
        if clusters == len(self.score):
            return self.products(surprise**2)
        rows = self.cluster * size
        sums = _sums(rows + self.left, surprise, clusters * size) - _sums(rows + self.right, surprise, clusters * size)
        sums += _sums(rows + self.count, surprise * self.x, clusters * size)
        each = sums.reshape(clusters, size)
        return np.asarray(each.T @ each, dtype=np.float64)

    def _to_each(self, weights: FloatArray) -> FloatArray:
        return _sums(self.left, weights, self.count) - _sums(self.right, weights, self.count)


def _sums(places: IntArray, weights: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(places, weights, minlength=count), dtype=np.float64)


def maximise_with(rows: Rows, strengths: FloatArray) -> Estimated | Undefined:
    """Strengths and effect that maximise the likelihood, from the strengths found without the covariate.

    Undefined when the effect cannot be told from the strengths, or when no finite one is best.
    """
    if not rows.x.any():
        return Undefined(Reason.CONSTANT)
    parameters = np.append(strengths, 0.0)
    for _ in range(MOST_STEPS):
        chance = 1.0 / (1.0 + np.exp(-rows.margins(parameters)))
        curvature = rows.products(chance * (1.0 - chance))
        if reason := _why_singular(curvature):
            return Undefined(reason)
        step = np.asarray(np.linalg.solve(_gauged(curvature), rows.gradient(rows.score - chance)), dtype=np.float64)
        parameters = _moved(rows, parameters, step)
        if np.abs(rows.margins(parameters)).max() > FURTHEST + np.ptp(strengths):
            return Undefined(Reason.SEPARATED)
        if np.abs(step).max() < FINE:
            return _estimated(rows, parameters)
    return Undefined(Reason.SEPARATED)


def _estimated(rows: Rows, parameters: FloatArray) -> Estimated:
    chance = 1.0 / (1.0 + np.exp(-rows.margins(parameters)))
    inverse = np.linalg.inv(_gauged(rows.products(chance * (1.0 - chance))))
    covariance = inverse @ rows.spread(rows.score - chance) @ inverse
    strengths = parameters[:-1] - parameters[:-1].mean()
    return Estimated(strengths, float(parameters[-1]), float(np.sqrt(max(covariance[-1, -1], 0.0))))


def _gauged(matrix: FloatArray) -> FloatArray:
    whole = matrix.copy()
    whole[:-1, :-1] = gauged(matrix[:-1, :-1])
    return whole


def _why_singular(curvature: FloatArray) -> Reason | None:
    own, cross = curvature[-1, -1], curvature[:-1, -1]
    if not own > 0:
        return Reason.SEPARATED
    left_over = own - cross @ np.linalg.solve(gauged(curvature[:-1, :-1]), cross)
    return Reason.CONFOUNDED if left_over < LEAST_PRECISION * own else None


def _moved(rows: Rows, parameters: FloatArray, step: FloatArray) -> FloatArray:
    """The step, halved until the likelihood does not fall; a small one is taken whole."""
    if np.abs(rows.margins(step)).max() < np.log(2):
        return parameters + step
    before = _log_likelihood(rows, parameters)
    for halvings in range(MOST_HALVINGS):
        moved: FloatArray = parameters + step / 2**halvings
        if _log_likelihood(rows, moved) >= before:
            return moved
    return parameters


def _log_likelihood(rows: Rows, parameters: FloatArray) -> float:
    margins = rows.margins(parameters)
    return float(rows.score @ margins - np.logaddexp(0.0, margins).sum())
