"""Estimates from few values: mean, spread and interval. A missing value is left out and counted, never replaced.

Intervals hold with 95 % confidence. They assume that the runs are independent and their values not too skewed; with
few runs they may reach beyond the scale of a score, which says how little few runs say.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from leaderboard.ratings.statistics import t_quantile

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """n values and what they say of their mean; None where they say nothing.

    sd is the sample's standard deviation (divisor n - 1), low and high the interval of the mean.
    """

    n: int
    missing: int
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None

    @property
    def asked(self) -> int:
        """The values that there would be if none were missing."""
        return self.n + self.missing

    @property
    def no_interval(self) -> str:
        """Why there is no interval: "no_value", "one_value", or "" when there is one."""
        return {0: "no_value", 1: "one_value"}.get(self.n, "")


@dataclass(frozen=True, slots=True)
class Share:
    """In how many of n runs something happened; runs of which it is not known are missing. share, low, high: 0 to 1."""

    count: int
    n: int
    missing: int
    share: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def asked(self) -> int:
        return self.n + self.missing


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two groups of different runs, and the difference of their means (first less second) with its interval."""

    first: Estimate
    second: Estimate
    difference: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def no_interval(self) -> str:
        return self.first.no_interval or self.second.no_interval


def estimate(values: Iterable[float | None]) -> Estimate:
    """The mean of the values that are there, with its interval mean ± t(n - 1) · sd / √n.

    Source: Student, "The probable error of a mean", Biometrika 6 (1908). One value has no spread, hence no interval.
    """
    everything = list(values)
    given = [value for value in everything if value is not None]
    n, missing = len(given), sum(value is None for value in everything)
    if not given:
        return Estimate(0, missing)
    least, most = min(given), max(given)
    mean = least if least == most else fmean(given)  # exact: no rounding makes a spread where there is none
    if n == 1:
        return Estimate(1, missing, mean, least=least, most=most)
    sd = 0.0 if least == most else stdev(given)
    half = t_quantile(CONFIDENCE, n - 1) * sd / math.sqrt(n)
    return Estimate(n, missing, mean, sd, mean - half, mean + half, least, most)


def paired(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """The mean of the differences first - second of the same runs, with its interval: `estimate` of the differences.

    A run that lacks one of the two has no difference, and counts as missing. Pairing takes out what both sides of a
    run have in common, such as a judge that was severe in that run.
    """
    return estimate(
        None if one is None or other is None else one - other for one, other in zip(first, second, strict=True)
    )


def contrast(first: Iterable[float | None], second: Iterable[float | None]) -> Contrast:
    """Two groups of runs that may differ in size and spread: mean1 - mean2 ± t(df) · √(v1 + v2), v = sd² / n.

    df = (v1 + v2)² / (v1² / (n1 - 1) + v2² / (n2 - 1)). Sources: B. L. Welch, Biometrika 34 (1947); F. E.
    Satterthwaite, Biometrics Bulletin 2 (1946). No interval when a group has fewer than two values.
    """
    one, two = estimate(first), estimate(second)
    if one.mean is None or two.mean is None:
        return Contrast(one, two)
    difference = one.mean - two.mean
    if one.sd is None or two.sd is None:
        return Contrast(one, two, difference)
    v1, v2 = one.sd**2 / one.n, two.sd**2 / two.n
    if not v1 + v2:
        return Contrast(one, two, difference, difference, difference)
    degrees = (v1 + v2) ** 2 / (v1**2 / (one.n - 1) + v2**2 / (two.n - 1))
    half = t_quantile(CONFIDENCE, degrees) * math.sqrt(v1 + v2)
    return Contrast(one, two, difference, difference - half, difference + half)


def share(happened: Iterable[bool | None]) -> Share:
    """In what share p = count / n of the runs it happened, with the score interval, which holds for few runs too:

    (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n), z = 1.96. Source: E. B. Wilson, Journal of the American
    Statistical Association 22 (1927).
    """
    everything = list(happened)
    known = [value for value in everything if value is not None]
    n, missing = len(known), sum(value is None for value in everything)
    if not n:
        return Share(0, 0, missing)
    p, z = sum(known) / n, NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = (middle - half if p > 0 else 0.0), (middle + half if p < 1 else 1.0)  # exact at the ends
    return Share(sum(known), n, missing, p, low, high)
