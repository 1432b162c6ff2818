"""In which turn something happened, where runs may end before it did: those are censored, not left out."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined


@dataclass(frozen=True, slots=True)
class Curve:
    """The share of runs in which it has not happened by a time, at each time at which it happened in some.

    share, low, high: 0 to 1. at_risk: runs that had come so far; events: those in which it happened then. low and high
    are NaN once it has happened in all. error: of the share, by Greenwood's formula.
    """

    times: FloatArray
    at_risk: IntArray
    events: IntArray
    share: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def median(self) -> float | None:
        """The first time by which it has happened in half of the runs; None where it has not come to that."""
        return self._halved(self.share)

    @property
    def median_interval(self) -> tuple[float | None, float | None]:
        """The times at which the ends of the share's interval come to one half; None where an end does not.

        Source: Brookmeyer & Crowley, Biometrics 38 (1982).
        """
        return self._halved(self.low), self._halved(self.high)

    def _halved(self, shares: FloatArray) -> float | None:
        reached = self.times[shares <= 0.5 + 1e-12]
        return float(reached[0]) if len(reached) else None


def kaplan_meier(times: ArrayLike, happened: ArrayLike, *, confidence: float = COVERAGE) -> Curve:
    """times: of each run, when it happened or the run ended without it; happened: which of the two.

    S(t) = ∏ (1 - d / n) over the times up to t; its error by Greenwood's formula, S √(Σ d / (n (n - d))); the interval
    on the scale of log(-log S), where it stays between 0 and 1.
    Sources: Kaplan & Meier, JASA 53 (1958); Greenwood (1926); Kalbfleisch & Prentice, "The Statistical Analysis of
    Failure Time Data" (1980).
    """
    ended, known = np.asarray(times, dtype=np.float64), np.asarray(happened, dtype=bool)
    at = np.unique(ended[known])
    risk = np.array([np.count_nonzero(ended >= time) for time in at], dtype=np.int64)
    events = np.array([np.count_nonzero(known & (ended == time)) for time in at], dtype=np.int64)
    share: FloatArray = np.cumprod(1 - events / risk, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.cumsum(events / (risk * (risk - events)))
        error = np.where(share > 0, share * np.sqrt(sums), 0.0)
        half = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(sums) / np.log(share)
        low, high = share ** np.exp(-half), share ** np.exp(half)
    over = share <= 0
    low[over], high[over] = math.nan, math.nan
    return Curve(at, risk, events, share, error, low, high)


@dataclass(frozen=True, slots=True)
class Steps:
    """A curve with its runs, in plain numbers. times, at_risk, events, share, low, high: as of `Curve`; low and high
    None once it has happened in all. censored: times at which runs ended without it, and how many did. median_low,
    median_high: as of `Curve.median_interval`.
    """

    n: int
    times: list[float]
    at_risk: list[int]
    events: list[int]
    share: list[float]
    low: list[float | None]
    high: list[float | None]
    censored: list[tuple[float, int]]
    median: float | None
    median_low: float | None
    median_high: float | None


def steps(times: FloatArray, happened: BoolArray, *, confidence: float = COVERAGE) -> Steps:
    curve = kaplan_meier(times, happened, confidence=confidence)
    without, counts = np.unique(times[~happened], return_counts=True)
    low, high = ([None if math.isnan(end) else end for end in several.tolist()] for several in (curve.low, curve.high))
    median_low, median_high = curve.median_interval
    return Steps(
        n=len(times),
        times=curve.times.tolist(),
        at_risk=curve.at_risk.tolist(),
        events=curve.events.tolist(),
        share=curve.share.tolist(),
        low=low,
        high=high,
        censored=list(zip(without.tolist(), counts.tolist(), strict=True)),
        median=curve.median,
        median_low=median_low,
        median_high=median_high,
    )


def restricted_mean(times: ArrayLike, happened: ArrayLike, until: float) -> tuple[float, float] | Undefined:
    """The mean number of turns without it, of the first `until`, and its error: the area below the curve.

    Its variance is Σ A² d / (n (n - d)), with A the area from each time on. Undefined where the curve ends before
    `until`: the last runs end there without the event.
    Source: Irwin, J. Hyg. 47 (1949); Klein & Moeschberger, "Survival Analysis" (2003), section 4.5.
    """
    ended, known = np.asarray(times, dtype=np.float64), np.asarray(happened, dtype=bool)
    curve = kaplan_meier(ended, known)
    last = curve.share[-1] if len(curve.share) else 1.0
    if not len(ended) or (last > 0 and ended.max() < until):
        return Undefined(Reason.TOO_FEW_UNITS)
    here = curve.times < until
    edges = np.array([0.0, *curve.times[here], until])
    areas = np.diff(edges) * np.array([1.0, *curve.share[here]])
    after = np.cumsum(areas[::-1])[::-1][1:]
    risk, events = curve.at_risk[here], curve.events[here]
    open_ = risk > events
    variance = float((after[open_] ** 2 * events[open_] / (risk[open_] * (risk[open_] - events[open_]))).sum())
    return float(areas.sum()), math.sqrt(variance)


def restricted_difference(
    times: FloatArray, happened: BoolArray, is_first: BoolArray, until: float, *, confidence: float = COVERAGE
) -> Difference | Undefined:
    """The first condition's restricted mean less the second's, with its normal interval, cut at ±until.

    Source: Royston & Parmar, BMC Med. Res. Methodol. 13 (2013).
    """
    first, second = (restricted_mean(times[side], happened[side], until) for side in (is_first, ~is_first))
    if isinstance(first, Undefined):
        return first
    if isinstance(second, Undefined):
        return second
    error = math.hypot(first[1], second[1])
    if not error:
        return Undefined(Reason.NO_SPREAD)
    half, value = NormalDist().inv_cdf((1 + confidence) / 2) * error, first[0] - second[0]
    return Difference(value, max(value - half, -until), min(value + half, until))


@dataclass(frozen=True, slots=True)
class LogRank:
    """statistic: of χ² with one degree of freedom; p: of "no difference". observed, expected: events of the first."""

    statistic: float
    p: float
    observed: int
    expected: float


def log_rank(times: ArrayLike, happened: ArrayLike, is_first: ArrayLike, strata: ArrayLike) -> LogRank | Undefined:
    """Whether it happens sooner in one of two conditions; runs are compared within their stratum, the prompt.

    At each time, of d events among n runs at risk, n1 of them of the first condition, d n1 / n are expected there, with
    variance d (n1 / n) (1 - n1 / n) (n - d) / (n - 1). Undefined where no event tells them apart.
    Sources: Mantel, Cancer Chemother. Rep. 50 (1966); Peto & Peto, J. R. Stat. Soc. A 135 (1972).
    """
    ended, known = np.asarray(times, dtype=np.float64), np.asarray(happened, dtype=bool)
    first, groups = np.asarray(is_first, dtype=bool), np.asarray(strata, dtype=np.int64)
    observed, expected, variance = 0, 0.0, 0.0
    for group in np.unique(groups):
        here = groups == group
        for time in np.unique(ended[known & here]):
            at_risk = here & (ended >= time)
            now = at_risk & known & (ended == time)
            n, n1, d = int(at_risk.sum()), int((at_risk & first).sum()), int(now.sum())
            observed += int((now & first).sum())
            expected += d * n1 / n
            variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1) if n > 1 else 0.0
    if variance <= 0:
        return Undefined(Reason.NO_SPREAD)
    statistic = (observed - expected) ** 2 / variance
    return LogRank(statistic, math.erfc(math.sqrt(statistic / 2)), observed, expected)
