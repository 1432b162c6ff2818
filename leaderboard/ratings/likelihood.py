"""The maximum of the Bradley-Terry likelihood: who can be compared with whom, and the strengths of each group."""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.values import BoolArray, FloatArray, IntArray

MOST_STEPS = 200
MOST_HALVINGS = 60
FINE = 1e-9  # nats; the last step is taken, and convergence is quadratic
COARSE = 0.3  # nats; within a smaller step curvature less than doubles, e^(2 · 0.3) < 2, and the likelihood rises


def reach(edges: BoolArray) -> BoolArray:
    """[i, j]: a path of edges leads from i to j; everyone reaches themselves. By squaring until nothing is added."""
    paths = edges | np.eye(len(edges), dtype=bool)
    while True:
        steps = paths.astype(np.float32)
        longer: BoolArray = steps @ steps > 0
        if (longer == paths).all():
            return paths
        paths = longer


def groups_of(mutual: BoolArray) -> IntArray:
    """The group of each under an equivalence relation, as the index of the group's first member."""
    return np.argmax(mutual, axis=1) if len(mutual) else np.zeros(0, dtype=np.int64)


def members(groups: IntArray) -> list[IntArray]:
    """The indices of each group's members, in the sequence of first members."""
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


# --- the maximum of the Bradley-Terry likelihood, by Newton's method ---


class NotConverged(ArithmeticError):
    """The likelihood's maximum was not found; the table is not connected, or its numbers are beyond floating point."""


def chances(strengths: FloatArray) -> FloatArray:
    """Probability that i beats j, n × n: 1 / (1 + exp(strength j - strength i))."""
    with np.errstate(over="ignore"):
        probabilities: FloatArray = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
    return probabilities


def laplacian(weights: FloatArray) -> FloatArray:
    """The matrix with -weights off the diagonal and rows that sum to 0."""
    matrix = -weights
    np.fill_diagonal(matrix, 0.0)
    matrix[np.diag_indices(len(matrix))] = -matrix.sum(axis=1)
    return matrix


def information(points: FloatArray, strengths: FloatArray) -> FloatArray:
    """Minus the second derivative of the log-likelihood, n × n: the Laplacian of games · p · (1 - p)."""
    wins = chances(strengths)
    return laplacian((points + points.T) * wins * wins.T)


def gauged(matrix: FloatArray) -> FloatArray:
    """A Laplacian made invertible: equal shifts of all strengths, which it does not see, get its mean diagonal."""
    return matrix + float(np.trace(matrix)) / max(len(matrix), 1) ** 2


def maximise(points: FloatArray, start: FloatArray, fixed: BoolArray) -> FloatArray:
    """Strengths in nats that maximise sum of points[i, j] · log p(i beats j); those fixed stay where they start.

    points[i, j]: wins of i over j and half the ties. The graph of points must be strongly connected, with the fixed
    ones counted as linked. Without a fixed one the mean is 0. Raises NotConverged.
    Source: Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 39 (1952); Ford, "Solution of a
    ranking problem from binary comparisons", Amer. Math. Monthly 64 (1957) for when the maximum exists.
    """
    free = np.flatnonzero(~fixed)
    if not free.size:
        return start
    strengths, largest = start, np.inf
    for _ in range(MOST_STEPS):
        step = _step(points, strengths, free)
        largest = float(np.abs(step).max())
        strengths = _moved(points, strengths, free, step) if largest > COARSE else _plus(strengths, free, step)
        if largest < FINE:
            return strengths if fixed.any() else strengths - strengths.mean()
    raise NotConverged(f"no maximum of the likelihood within {MOST_STEPS} steps; the last one was {largest:g} nats")


def _step(points: FloatArray, strengths: FloatArray, free: IntArray) -> FloatArray:
    wins = chances(strengths)
    surprise = points * wins.T
    gradient = (surprise.sum(axis=1) - surprise.sum(axis=0))[free]
    curvature = laplacian((points + points.T) * wins * wins.T)
    if free.size == len(points):
        return np.linalg.solve(gauged(curvature), gradient)
    return np.linalg.solve(curvature[np.ix_(free, free)], gradient)


def _moved(points: FloatArray, strengths: FloatArray, free: IntArray, step: FloatArray) -> FloatArray:
    """The step, halved until the likelihood does not fall."""
    before = _log_likelihood(points, strengths)
    for halvings in range(MOST_HALVINGS):
        moved = _plus(strengths, free, step / 2**halvings)
        if _log_likelihood(points, moved) >= before:
            return moved
    return strengths


def _plus(strengths: FloatArray, free: IntArray, step: FloatArray) -> FloatArray:
    moved = strengths.copy()
    moved[free] += step
    return moved


def _log_likelihood(points: FloatArray, strengths: FloatArray) -> float:
    return -float((points * np.logaddexp(0.0, strengths[None, :] - strengths[:, None])).sum())


# --- strengths of everybody, group by group: what the battles say, and where they say nothing ---


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The likelihood's maximum in the wider sense: differences between groups may be infinite or unknown.

    groups: contestants linked by wins in both directions have finite differences; each group has a scale of its own
    (mean 0 nats; the anchors' group has the anchors'). components: linked by battles at all. above[i, j]: wins lead
    from i to j and never back, so that i is infinitely far above j. Groups are named by their first member's index.
    """

    strengths: FloatArray
    groups: IntArray
    components: IntArray
    above: BoolArray

    def stands_above(self, tolerance: float) -> BoolArray:
        """[i, j]: i is above j, in another group or by more than the tolerance (nats) within one."""
        same = self.groups[:, None] == self.groups[None, :]
        higher = self.strengths[:, None] - self.strengths[None, :] > tolerance
        above: BoolArray = self.above | (same & higher)
        return above


def solve(points: FloatArray, anchors: FloatArray | None = None) -> Solution:
    """Fit each group of contestants by itself.

    points[i, j]: wins of i over j and half the ties, n × n. anchors: strengths in nats that are fixed, nan for the
    rest; anchors are on one scale, so they are one group whether or not they met.
    """
    fixed = np.full(len(points), np.nan) if anchors is None else anchors
    is_fixed = ~np.isnan(fixed)
    anchored = np.logical_and.outer(is_fixed, is_fixed)
    edges = (points > 0) | anchored
    paths = reach(edges)
    groups = groups_of(paths & paths.T)
    strengths = np.zeros(len(points))
    for group in members(groups):
        strengths[group] = _fitted(points[np.ix_(group, group)], fixed[group])
    return Solution(strengths, groups, groups_of(reach(edges | edges.T)), paths & ~paths.T)


def _fitted(points: FloatArray, fixed: FloatArray) -> FloatArray:
    is_fixed = ~np.isnan(fixed)
    start = np.where(is_fixed, fixed, fixed[is_fixed].mean() if is_fixed.any() else 0.0)
    return maximise(points, start, is_fixed) if len(points) > 1 else start
