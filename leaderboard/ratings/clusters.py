"""The spread of battles that are not independent: those of one cluster count as one observation."""

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table
from leaderboard.ratings.fitting import Fitted

MOST_AT_ONCE = 8_000_000  # cells of the table clusters × contestants, 64 MB


def clustered_spread(found: Fitted, part: IntArray, battles: Battles | Table, clusters: ArrayLike) -> FloatArray:
    """The sum over clusters of the outer product of the cluster's summed scores, for the members of the part."""
    labels = np.asarray(clusters)
    if isinstance(battles, Table) or labels.shape != battles.left.shape:
        raise ValueError("clusters are given for battles, one per battle")
    place = np.full(len(found.order), -1, dtype=np.int64)
    place[found.order[part]] = np.arange(len(part))
    left, right = place[battles.left], place[battles.right]
    inside = (left >= 0) & (right >= 0)
    left, right, strengths = left[inside], right[inside], found.solution.strengths[part]
    surprise = battles.score[inside] - 1.0 / (1.0 + np.exp(strengths[right] - strengths[left]))
    numbers = np.unique(labels[inside], return_inverse=True)[1].reshape(-1)
    return _outer_products(numbers, left, right, surprise, len(part))


def _outer_products(numbers: IntArray, left: IntArray, right: IntArray, surprise: FloatArray, count: int) -> FloatArray:
    order = np.argsort(numbers, kind="stable")
    total = np.zeros((count, count))
    step = max(MOST_AT_ONCE // count, 1)
    ends = np.searchsorted(numbers[order], np.arange(step, numbers.max(initial=-1) + 1 + step, step))
    for chosen in np.split(order, ends):
        if chosen.size:
            rows = (numbers[chosen] - numbers[chosen[0]]) * count
            cells = (int(rows[-1]) // count + 1) * count
            sums = np.bincount(rows + left[chosen], surprise[chosen], minlength=cells)
            sums -= np.bincount(rows + right[chosen], surprise[chosen], minlength=cells)
            total += sums.reshape(-1, count).T @ sums.reshape(-1, count)
    return total
