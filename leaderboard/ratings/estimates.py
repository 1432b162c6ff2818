"""Figures with intervals where units come in clusters: votes of one cycle are no independent evidence."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.scale import COVERAGE
from leaderboard.ratings.student import t_quantile
from leaderboard.ratings.undefined import Reason, Undefined

MOST_LEFT_OUT = 50  # clusters beyond it are left out several at a time
NO_SPREAD = 1e-9
NEAR_ONE = 1 - 1e-6


@dataclass(frozen=True, slots=True)
class Estimate:
    """value: the figure; interval: its 95 % interval, low and high; either may be undefined, with the reason.

    units: how many it rests on; clusters: from how many cycles.
    """

    value: float | Undefined
    interval: tuple[float, float] | Undefined
    units: int
    clusters: int


def undefined(reason: Reason, units: int, clusters: int) -> Estimate:
    return Estimate(Undefined(reason), Undefined(reason), units, clusters)


def mean_estimate(
    values: FloatArray, clusters: IntArray, *, low: float = -math.inf, high: float = math.inf, empty: Reason
) -> Estimate:
    """The mean of the values and its interval mean ± t(g - 1) · error, cut at low and high, with g clusters.

    error² = g / (g - 1) · the sum over clusters of (the sum of value - mean)² / n²: for clusters of one value it is
    the usual s² / n. Undefined without a value (`empty` says why); no interval from one cluster, nor where nothing
    varies. Source: Liang & Zeger, Biometrika 73 (1986), with the factor for few clusters of Cameron & Miller (2015).
    """
    numbers = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    count = int(numbers.max(initial=-1)) + 1
    if not count:
        return undefined(empty, 0, 0)
    mean = math.fsum(values.tolist()) / len(values)
    if count < 2:
        return Estimate(mean, Undefined(Reason.TOO_FEW_UNITS), len(values), count)
    sums = np.bincount(numbers, values - mean)
    error = math.sqrt(count / (count - 1) * float(sums @ sums)) / len(values)
    return Estimate(mean, _within(mean, error, count, low, high), len(values), count)


def jackknifed(
    statistic: Callable[[BoolArray], float | Undefined],
    clusters: IntArray,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    is_correlation: bool = False,
) -> Estimate:
    """statistic(which units count) with the interval value ± t(g - 1) · error, each of g clusters left out once.

    error² = (g - 1) / g · the sum of (value without a cluster - their mean)². Of a correlation on Fisher's scale
    atanh r, where its spread is even. Beyond 50 clusters several are left out at a time, so that the cost stays.
    No interval from one cluster, where nothing varies, and where the figure does not exist without one of them.
    Sources: Miller, "The jackknife: a review", Biometrika 61 (1974); Fisher, Metron 1 (1921).
    """
    numbers = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    count = int(numbers.max(initial=-1)) + 1
    value = statistic(np.ones(len(clusters), dtype=bool))
    if isinstance(value, Undefined):
        return Estimate(value, value, len(clusters), count)
    interval = _interval(value, statistic, numbers % MOST_LEFT_OUT, low, high, is_correlation)
    return Estimate(value, interval, len(clusters), count)


def pearson(first: FloatArray, second: FloatArray) -> float | Undefined:
    """The correlation of two lists, -1 to 1. Undefined for fewer than three units, and where one list is constant.

    Source: Pearson, Proc. R. Soc. Lond. 58 (1895).
    """
    if len(first) < 3:
        return Undefined(Reason.TOO_FEW_UNITS)
    a, b = first - first.mean(), second - second.mean()
    if min(np.abs(a).max(), np.abs(b).max()) < NO_SPREAD:
        return Undefined(Reason.CONSTANT)
    return float(np.clip((a @ b) / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def _interval(
    value: float,
    statistic: Callable[[BoolArray], float | Undefined],
    groups: IntArray,
    low: float,
    high: float,
    is_correlation: bool,
) -> tuple[float, float] | Undefined:
    count = int(groups.max()) + 1
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    found = [statistic(groups != group) for group in range(count)]
    known = [one for one in found if not isinstance(one, Undefined)]
    if len(known) < count:
        return Undefined(Reason.RESTS_ON_ONE)
    without = np.array([_stretched(one) if is_correlation else one for one in known])
    error = math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))
    if is_correlation:
        around = _within(_stretched(value), error, count, -math.inf, math.inf)
        return around if isinstance(around, Undefined) else (math.tanh(around[0]), math.tanh(around[1]))
    return _within(value, error, count, low, high)


def _stretched(correlation: float) -> float:
    """Fisher's z, finite at the ends too."""
    return math.atanh(min(max(correlation, -NEAR_ONE), NEAR_ONE))


def _within(value: float, error: float, clusters: int, low: float, high: float) -> tuple[float, float] | Undefined:
    if error < NO_SPREAD:
        return Undefined(Reason.NO_SPREAD)
    half = t_quantile(COVERAGE, clusters - 1) * error
    return max(value - half, low), min(value + half, high)
