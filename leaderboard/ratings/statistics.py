"""Figures with intervals: Student's t, shares, bootstraps of few units, means where units come in clusters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.values import COVERAGE, NORMAL, BoolArray, FloatArray, IntArray, Reason, Undefined

TINY = 1e-300
PRECISION = 1e-15
MOST_TERMS = 10_000
MANY = 1000  # degrees of freedom

CONFIDENCE = 0.95
NO_VARIANCE = 1e-12  # of a share's variance: what rounding leaves where all items came out alike
MOST_LEFT_OUT = 50  # clusters beyond it are left out several at a time
NO_SPREAD = 1e-9
NEAR_ONE = 1 - 1e-6


@lru_cache(maxsize=1024)
def t_quantile(confidence: float, degrees: float) -> float:
    """The t with P(|T| <= t) = confidence (0 to 1) for T with so many degrees of freedom (any number above 0).

    Found by halving, from P(|T| > t) = I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t²), where I is the
    regularised incomplete beta function (Abramowitz & Stegun, Handbook of Mathematical Functions, 26.5.27 and 26.7.1);
    for MANY degrees and more by the expansion about the normal quantile (26.7.5), whose next term is below 1e-13.
    """
    if not 0 < confidence < 1 or degrees <= 0:
        raise ValueError("a confidence between 0 and 1 and a positive number of degrees of freedom are needed")

    if degrees >= MANY:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + sum(term / degrees**power for power, term in enumerate(terms, 1))

    def is_below(t: float) -> bool:
        return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5) > 1 - confidence

    low, high = 0.0, 1.0
    while is_below(high):
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for 0 <= x <= 1 and positive a and b.

    By its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), which converges quickly below
    (a + 1) / (a + b + 2); beyond that point by I_x(a, b) = 1 - I_(1-x)(b, a) (8.17.4). The fraction
    1 + d1/(1 + d2/(1 + …)) is evaluated from the front by the method of Lentz (Applied Optics 15, 1976).
    """
    if x in (0, 1):
        return float(x)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    value, upper, lower = 1.0, 1.0, 0.0
    for n in range(1, MOST_TERMS):
        m, is_odd = divmod(n, 2)
        if is_odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower or TINY)
        upper = 1 + term / upper or TINY
        value *= upper * lower
        if abs(upper * lower - 1) < PRECISION:
            break
    return math.exp(scale) / (a * value)


# --- intervals of a statistic of few units, by the bootstrap ---


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of what the resamples gave. undefined: in how many of the rounds the figure did not exist."""

    low: float
    high: float
    rounds: int
    undefined: int = 0


def resampled(
    statistic: Callable[[IntArray], float | Undefined], units: int, *, rounds: int = 1000, seed: int = 0
) -> Interval | Undefined:
    """The percentile interval of statistic(indices of units), units drawn with replacement `rounds` times.

    Undefined for fewer than two units, and when half of the rounds or more give no figure. The same seed gives the
    same interval. Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
    """
    if units < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    random = np.random.default_rng(seed)
    found = (statistic(random.integers(units, size=units)) for _ in range(rounds))
    return middle_of([value for value in found if not isinstance(value, Undefined)], rounds)


def middle_of(values: Sequence[float] | FloatArray, rounds: int) -> Interval | Undefined:
    """The middle 95 % of what so many rounds gave; Undefined when half of them or more gave nothing."""
    count = len(values)
    if 2 * count <= rounds:
        return Undefined(Reason.MOSTLY_UNDEFINED)
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high), rounds, rounds - count)


# --- parts of a whole, with the interval that holds for few units, too ---


@dataclass(frozen=True, slots=True)
class Share:
    """part of `of`; value, and Wilson's 95 % interval (1927), are None where there is nothing to share.

    effective: as how many independent units those `of` count, where they are not; None where they are.
    """

    part: int
    of: int
    effective: float | None = None

    @property
    def value(self) -> float | None:
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        low, high = wilson(self.part / self.of, self.of if self.effective is None else self.effective)
        return max(0.0, low), min(1.0, high)


def wilson(p: float, n: float, confidence: float = COVERAGE) -> tuple[float, float]:
    """The score interval of a rate p (0 to 1) of n units, any number above 0: it holds for few units, too.

    (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n). Source: Wilson, JASA 22 (1927).
    """
    z = NORMAL if confidence == COVERAGE else NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def share_of_items(parts: ArrayLike, wholes: ArrayLike) -> Share:
    """Σ parts of Σ wholes, given by item, whose units are not independent of each other: all votes on one item meet the
    same verdict.

    Wilson's interval is that of n* units, n* = p (1 - p) / variance · (1.96 / t(g - 1))², with the variance between g
    items, and never more than there are; of none and of all, n* = g. Items of one unit each are independent units.
    Raises ValueError for lists of different lengths. Sources: Kish, "Survey Sampling" (1965); Korn & Graubard, Survey
    Methodology 24 (1998).
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if part.shape != whole.shape or part.ndim != 1:
        raise ValueError("there is one part and one whole per item")
    part, whole = part[whole > 0], whole[whole > 0]
    count, total = len(whole), float(whole.sum())
    units, of = round(float(part.sum())), round(total)
    if not count or whole.max() <= 1:
        return Share(units, of)
    value = float(part.sum()) / total
    beyond = part - value * whole
    spread = float(beyond @ beyond) * count / max(count - 1, 1) / total**2
    if count < 2 or spread <= NO_VARIANCE or not 0 < value < 1:
        return Share(units, of, float(min(count, total)))
    effective = value * (1 - value) / spread * (NORMAL / t_quantile(COVERAGE, count - 1)) ** 2
    return Share(units, of, min(effective, total))


# --- figures with intervals where units come in clusters: votes of one cycle are no independent evidence ---


@dataclass(frozen=True, slots=True)
class Estimate:
    """value: the figure; interval: its 95 % interval, low and high; either may be undefined, with the reason.

    units: how many it rests on; clusters: from how many cycles.
    """

    value: float | Undefined
    interval: tuple[float, float] | Undefined
    units: int
    clusters: int


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
        return Estimate(Undefined(empty), Undefined(empty), 0, 0)
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
    count, units = int(numbers.max(initial=-1)) + 1, len(clusters)
    value = statistic(np.ones(units, dtype=bool))
    if isinstance(value, Undefined):
        return Estimate(value, value, units, count)
    if count < 2:
        return Estimate(value, Undefined(Reason.TOO_FEW_UNITS), units, count)
    groups, left_out = numbers % MOST_LEFT_OUT, min(count, MOST_LEFT_OUT)
    found = [statistic(groups != group) for group in range(left_out)]
    known = [one for one in found if not isinstance(one, Undefined)]
    if len(known) < left_out:
        return Estimate(value, Undefined(Reason.RESTS_ON_ONE), units, count)
    without = np.array([_stretched(one) if is_correlation else one for one in known])
    error = math.sqrt((left_out - 1) / left_out * float(((without - without.mean()) ** 2).sum()))
    if not is_correlation:
        return Estimate(value, _within(value, error, left_out, low, high), units, count)
    around = _within(_stretched(value), error, left_out, -math.inf, math.inf)
    interval = around if isinstance(around, Undefined) else (math.tanh(around[0]), math.tanh(around[1]))
    return Estimate(value, interval, units, count)


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


def _stretched(correlation: float) -> float:
    """Fisher's z, finite at the ends too."""
    return math.atanh(min(max(correlation, -NEAR_ONE), NEAR_ONE))


def _within(value: float, error: float, clusters: int, low: float, high: float) -> tuple[float, float] | Undefined:
    if error < NO_SPREAD:
        return Undefined(Reason.NO_SPREAD)
    half = t_quantile(COVERAGE, clusters - 1) * error
    return max(value - half, low), min(value + half, high)
