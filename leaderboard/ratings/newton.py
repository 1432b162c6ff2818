"""The maximum of the Bradley-Terry likelihood, by Newton's method."""

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray

MOST_STEPS = 200
MOST_HALVINGS = 60
FINE = 1e-9  # nats; the last step is taken, and convergence is quadratic
COARSE = 0.3  # nats; within a smaller step curvature less than doubles, e^(2 · 0.3) < 2, and the likelihood rises


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
