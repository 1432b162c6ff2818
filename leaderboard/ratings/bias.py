"""What verdicts owe to the place and the length of answers, estimated together with the ratings.

logit p(left wins) = strength left - strength right + effect · covariate. Sources: Davidson & Beaver, "On extending the
Bradley-Terry model to incorporate within-pair order effects", Biometrics 33 (1977), for the side; the style control of
Chiang et al., "Chatbot Arena" (2024), and its code in FastChat, for length.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.bradley_terry import FINE, fitted, gauged, laplacian
from leaderboard.ratings.intervals import factor
from leaderboard.ratings.values import ELO, MEAN, NORMAL, Battles, FloatArray, IntArray, Reason, Undefined

MOST_STEPS = 60
MOST_HALVINGS = 40
FURTHEST = 40.0  # nats: a battle decided by more than e^40 is explained without error
LEAST_PRECISION = 1e-9  # of the effect's own information that is left beside the strengths


@dataclass(frozen=True, slots=True, eq=False)
class Bias:
    """effect: what one unit of the covariate adds to the left one's rating, in Elo, with standard error and 95 %
    interval (sandwich). n: the battles it rests on. ratings: with the covariate held at 0, nan where there is none.
    """

    effect: float
    error: float
    lower: float
    upper: float
    n: int
    ratings: FloatArray


def position_bias(battles: Battles, *, clusters: ArrayLike | None = None) -> Bias | Undefined:
    """How many points being on the left is worth: above 0 the judge leans to the left.

    Undefined when sides cannot be separated from contestants, as when each is always on the same side, or when one side
    always wins.
    """
    return covariate_bias(battles, np.ones(len(battles)), clusters=clusters)


def length_bias(
    battles: Battles, left_lengths: ArrayLike, right_lengths: ArrayLike, *, clusters: ArrayLike | None = None
) -> Bias | Undefined:
    """How many points one standard deviation of relative length is worth: above 0 the judge leans to longer answers.

    The covariate is (left - right) / (left + right), over its root mean square. Lengths: one per battle, 0 or more, of
    any unit.
    """
    left, right = np.asarray(left_lengths, dtype=np.float64), np.asarray(right_lengths, dtype=np.float64)
    if left.shape != battles.left.shape or right.shape != battles.left.shape:
        raise ValueError("lengths are given one per battle")
    if not (np.isfinite(left) & np.isfinite(right) & (left >= 0) & (right >= 0)).all():
        raise ValueError("a length is a finite number, 0 or more")
    relative = np.divide(left - right, left + right, out=np.zeros_like(left), where=left + right > 0)
    size = float(np.sqrt(np.mean(relative**2))) if relative.size else 0.0
    return covariate_bias(battles, relative / size, clusters=clusters) if size else Undefined(Reason.CONSTANT)


def covariate_bias(battles: Battles, covariate: ArrayLike, *, clusters: ArrayLike | None = None) -> Bias | Undefined:
    """The effect of any number per battle that speaks for the left one when positive.

    Estimated on the largest rated group of contestants. clusters: one whole number per battle; battles of one cluster
    (both orders of a pair, all pairs on a sample) are one observation, and the error is made wider for few of them, as
    in `by_items`; undefined for a single one. Raises ValueError unless there is one finite number, and one cluster, per
    battle.
    """
    values = np.asarray(covariate, dtype=np.float64)
    if values.shape != battles.left.shape or not np.isfinite(values).all():
        raise ValueError("a covariate has one finite number per battle")
    found = fitted(battles, {})
    if not found.parts:
        return Undefined(Reason.NO_BATTLES if not len(battles) else Reason.SEPARATED)
    part = max(found.parts, key=len)
    labels = np.arange(len(battles)) if clusters is None else np.asarray(clusters)
    if labels.shape != battles.left.shape:
        raise ValueError("clusters are given one per battle")
    place = np.full(len(battles.contestants), -1, dtype=np.int64)
    place[found.order[part]] = np.arange(len(part))
    left, right = place[battles.left], place[battles.right]
    inside = (left >= 0) & (right >= 0)
    numbers = np.unique(labels[inside], return_inverse=True)[1].reshape(-1)
    rows = _Rows(left[inside], right[inside], battles.score[inside], values[inside], numbers, len(part))
    if clusters is not None and rows.clusters < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    parameters = _maximise(rows, found.solution.strengths[part])
    if isinstance(parameters, Undefined):
        return parameters
    strengths = parameters[:-1] - parameters[:-1].mean()
    effect = ELO * float(parameters[-1])
    chance = rows.chances(parameters)
    inverse = np.linalg.inv(_solvable(rows.products(chance * (1.0 - chance))))
    variance = (inverse @ rows.spread(rows.score - chance) @ inverse)[-1, -1]
    error = ELO * float(np.sqrt(max(variance, 0.0))) * (1.0 if clusters is None else factor(rows.clusters))
    ratings = np.full(len(found.order), np.nan)
    ratings[found.order[part]] = MEAN + ELO * strengths
    return Bias(effect, error, effect - NORMAL * error, effect + NORMAL * error, len(rows.score), ratings)


# --- the maximum of the likelihood: strengths first, and the covariate's effect last, in nats ---


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Battles among `count` contestants, with the covariate x of each, and its cluster, numbered from 0."""

    left: IntArray
    right: IntArray
    score: FloatArray
    x: FloatArray
    cluster: IntArray
    count: int

    @property
    def clusters(self) -> int:
        return int(self.cluster.max(initial=-1)) + 1

    def margins(self, parameters: FloatArray) -> FloatArray:
        """The log odds of the left ones' wins."""
        margins: FloatArray = parameters[self.left] - parameters[self.right] + parameters[-1] * self.x
        return margins

    def chances(self, parameters: FloatArray) -> FloatArray:
        chances: FloatArray = 1.0 / (1.0 + np.exp(-self.margins(parameters)))
        return chances

    def log_likelihood(self, parameters: FloatArray) -> float:
        margins = self.margins(parameters)
        return float(self.score @ margins - np.logaddexp(0.0, margins).sum())

    def sum_of_each(self, weights: FloatArray) -> FloatArray:
        """The sum of weights · (e left - e right), by contestant."""
        return _sums(self.left, weights, self.count) - _sums(self.right, weights, self.count)

    def products(self, weights: FloatArray) -> FloatArray:
        """The sum of weights · outer products of (e left - e right, x), (count + 1)²."""
        table = _sums(self.left * self.count + self.right, weights, self.count**2).reshape(self.count, self.count)
        matrix = np.zeros((self.count + 1, self.count + 1))
        matrix[:-1, :-1] = laplacian(table + table.T)
        matrix[:-1, -1] = matrix[-1, :-1] = self.sum_of_each(weights * self.x)
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


def _sums(places: IntArray, weights: FloatArray, count: int) -> FloatArray:
    return np.asarray(np.bincount(places, weights, minlength=count), dtype=np.float64)


def _solvable(matrix: FloatArray) -> FloatArray:
    whole = matrix.copy()
    whole[:-1, :-1] = gauged(matrix[:-1, :-1])
    return whole


def _maximise(rows: _Rows, strengths: FloatArray) -> FloatArray | Undefined:
    """Strengths and effect that maximise the likelihood, from the strengths found without the covariate.

    A step is halved until the likelihood does not fall; a small one is taken whole. Undefined when the effect cannot be
    told from the strengths, or when no finite one is best.
    """
    if not rows.x.any():
        return Undefined(Reason.CONSTANT)
    parameters = np.append(strengths, 0.0)
    for _ in range(MOST_STEPS):
        chance = rows.chances(parameters)
        curvature, surprise = rows.products(chance * (1.0 - chance)), rows.score - chance
        own, cross, whole = curvature[-1, -1], curvature[:-1, -1], _solvable(curvature)
        if not own > 0:
            return Undefined(Reason.SEPARATED)
        if own - cross @ np.linalg.solve(whole[:-1, :-1], cross) < LEAST_PRECISION * own:
            return Undefined(Reason.CONFOUNDED)
        gradient = np.append(rows.sum_of_each(surprise), surprise @ rows.x)
        step = np.asarray(np.linalg.solve(whole, gradient), dtype=np.float64)
        taken = step
        if not np.abs(rows.margins(step)).max() < np.log(2):
            before = rows.log_likelihood(parameters)
            parts = (step / 2**halvings for halvings in range(MOST_HALVINGS))
            taken = next((one for one in parts if rows.log_likelihood(parameters + one) >= before), 0.0 * step)
        parameters = parameters + taken
        if np.abs(rows.margins(parameters)).max() > FURTHEST + np.ptp(strengths):
            return Undefined(Reason.SEPARATED)
        if np.abs(step).max() < FINE:
            return parameters
    return Undefined(Reason.SEPARATED)
