"""Many tables of one shape fitted at once, each starting near its maximum."""

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray

MOST_CHORDS = 12
MOST_STEPS = 10
FINE = 1e-8  # nats
FURTHEST = 30.0  # nats in one step
MOST_GRADIENTS = 60
ROUGH = 1e-6  # of the squared length of the slope: three digits of a step


def climb(
    points: FloatArray, start: FloatArray, inverse: FloatArray, is_fixed: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """The maxima of all tables, rounds × n in nats, and for which rounds they were found: not where battles link only
    some, whose distance to the others is anything.

    points: rounds × n × n. inverse: that of the information at the maximum of the table they were drawn from. First
    steps go by that one matrix, and cost a pass over the tables; those left over go on with Newton's own.
    """
    strengths, done = _chords(points, start, inverse)
    is_linked = _are_linked(points, is_fixed)
    done &= is_linked
    left = np.flatnonzero(~done & is_linked & _may_have_maximum(points, is_fixed))
    if left.size:
        strengths[left], done[left] = _newton(points[left], start[left], inverse)
    return strengths, done


def _may_have_maximum(points: FloatArray, is_fixed: BoolArray) -> BoolArray:
    """Whether everybody who is free has both won and lost."""
    both = (points.sum(axis=2) > 0) & (points.sum(axis=1) > 0)
    possible: BoolArray = (both | is_fixed).all(axis=1)
    return possible


def _are_linked(points: FloatArray, is_fixed: BoolArray) -> BoolArray:
    """Whether battles lead from one to all others, or from those who are fixed to everybody else; one per round."""
    met = (points + points.transpose(0, 2, 1)) > 0
    reached = np.zeros(points.shape[:2], dtype=bool)
    reached[:, is_fixed if is_fixed.any() else [0]] = True
    while True:
        further = reached | (met & reached[:, :, None]).any(axis=1)
        if (further == reached).all():
            return np.asarray(reached.all(axis=1))
        reached = further


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
