"""How many runs a study needs for a difference, and which difference it can see with the runs that it has.

A planned number is of each of the two conditions that are compared, after all prompts are counted together.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies.diversity import LEAST_ANSWERS
from leaderboard.ratings.values import FloatArray

NORMAL = NormalDist()
MOST_RUNS = 1_000_000
CERTAIN = 1 - 1e-9  # a share that is nearly all: where an event comes to every run, hazards have no ratio
NODES = 30  # of the quadrature over prompts


def runs_for_rates(first: float, second: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Runs per condition to tell two rates (0 to 1) apart, by a two-sided test at alpha.

    (z √(2 p̄ q̄) + y √(p1 q1 + p2 q2))² / (p1 - p2)², with z and y the quantiles of alpha and power. Raises ValueError
    for equal rates. Source: Fleiss, "Statistical Methods for Rates and Proportions" (1981), formula 3.14.
    """
    if first == second:
        raise ValueError("equal rates cannot be told apart")
    z, y = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power)
    middle = (first + second) / 2
    spread = z * math.sqrt(2 * middle * (1 - middle)) + y * math.sqrt(first * (1 - first) + second * (1 - second))
    return math.ceil(spread**2 / (first - second) ** 2)


def power_for_rates(first: float, second: float, runs: int, *, alpha: float = 0.05) -> float:
    """The probability (0 to 1) that so many runs per condition tell the rates apart; `runs_for_rates` solved for it."""
    z, middle = NORMAL.inv_cdf(1 - alpha / 2), (first + second) / 2
    below = math.sqrt(first * (1 - first) + second * (1 - second))
    above = abs(first - second) * math.sqrt(runs) - z * math.sqrt(2 * middle * (1 - middle))
    return NORMAL.cdf(above / below) if below else float(above > 0)


def visible_rate(first: float, runs: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The difference from a rate, towards the middle of the scale, that so many runs per condition can see; None where
    even the other end of the scale cannot be told apart.
    """
    return _least_seen(first, lambda other: power_for_rates(first, other, runs, alpha=alpha) >= power)


def _least_seen(first: float, is_seen: Callable[[float], bool]) -> float | None:
    """The least difference from a share (0 to 1), towards the middle of the scale, with which the other one is seen."""
    sign = 1 if first <= 0.5 else -1
    low, high = 0.0, 1 - first if sign > 0 else first
    if not is_seen(first + sign * high):
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(first + sign * middle) else (middle, high)
    return high


def runs_for_times(first: float, second: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Runs per condition for a log-rank test of an event that comes to these shares (0 to 1) of the runs until the last
    turn that counts, where the ratio of hazards is the same in all turns and no run ends early.

    4 (z + y)² / ln(h)² events are needed of both conditions together, with h = ln(1 - p2) / ln(1 - p1); runs are as
    many as bring them. Raises ValueError for equal shares, and for a share of 0, which has no hazard.
    Source: Schoenfeld, "Sample-size formula for the proportional-hazards regression model", Biometrics 39 (1983).
    """
    if first == second or min(first, second) <= 0:
        raise ValueError("two different shares above 0 are needed")
    z, y = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power)
    hazards = [-math.log1p(-min(share, CERTAIN)) for share in (first, second)]
    return math.ceil(4 * (z + y) ** 2 / math.log(hazards[1] / hazards[0]) ** 2 / (first + second))


def visible_time(first: float, runs: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The difference from the share of runs with the event, towards the middle of the scale, that so many runs per
    condition can see; None where there is none, as for a share of 0 or 1.
    """
    if not 0 < first < 1:
        return None

    def is_seen(other: float) -> bool:
        share = max(other, 1 - CERTAIN)
        return share != first and runs_for_times(first, share, alpha=alpha, power=power) <= runs

    return _least_seen(first, is_seen)


def power_for_mixed_rates(first: float, second: float, runs: int, *, spread: float, alpha: float = 0.05) -> float:
    """The probability (0 to 1) that the mixed logistic model tells two rates apart with so many runs per condition over
    all prompts. first, second: rates over prompts; spread: the standard deviation of prompts in log-odds, 0 or more.

    Φ(√λ - z), with λ what the statistic of the ratio of likelihoods, 2 n Σ p ln(p / p̄), comes to where runs are as
    expected: over both conditions and both outcomes, the mean over prompts, with p̄ the mean of both conditions there.
    Source: Self, Mauritsen & Ohara, "Power calculations for likelihood ratio tests in generalized linear models",
    Biometrics 48 (1992).
    """
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    prompts, weights = spread * points, weights / weights.sum()
    sides = [
        _logistic(_log_odds(min(max(rate, 1 - CERTAIN), CERTAIN), prompts, weights) + prompts)
        for rate in (first, second)
    ]
    middle = (sides[0] + sides[1]) / 2
    told = [one * np.log(one / middle) + (1 - one) * np.log((1 - one) / (1 - middle)) for one in sides]
    statistic = 2 * runs * float(weights @ (told[0] + told[1]))
    return NORMAL.cdf(math.sqrt(max(0.0, statistic)) - NORMAL.inv_cdf(1 - alpha / 2))


def _log_odds(rate: float, prompts: FloatArray, weights: FloatArray) -> float:
    """Those of a prompt without an effect, where the mean rate over prompts is this one."""
    low, high = -100.0, 100.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if float(weights @ _logistic(middle + prompts)) < rate else (low, middle)
    return high


def _logistic(odds: FloatArray) -> FloatArray:
    found: FloatArray = 1 / (1 + np.exp(-odds))
    return found


def runs_for_mixed_rates(first: float, second: float, *, spread: float, alpha: float = 0.05, power: float = 0.8) -> int:
    """Runs per condition over all prompts, `power_for_mixed_rates` solved for it. Raises ValueError for equal rates."""
    if first == second:
        raise ValueError("equal rates cannot be told apart")
    return _fewest(1, lambda runs: power_for_mixed_rates(first, second, runs, spread=spread, alpha=alpha) >= power)


def _fewest(least: int, is_enough: Callable[[int], bool]) -> int:
    """The fewest runs that are enough, `least` or more; MOST_RUNS or more where those are not."""
    low, high = least - 1, least
    while not is_enough(high) and high < MOST_RUNS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def visible_mixed_rate(
    first: float, runs: int, *, spread: float, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """As `visible_rate`, by the mixed logistic model."""
    return _least_seen(
        first, lambda other: power_for_mixed_rates(first, other, runs, spread=spread, alpha=alpha) >= power
    )


def runs_for_scores(difference: float, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Runs per condition to see a difference of means, where runs of one condition have this standard deviation.

    2 ((z + y) sd / d)² + z² / 4, the second part for Student's t. Raises ValueError for no difference.
    Source: Guenther, The American Statistician 35 (1981).
    """
    if not difference:
        raise ValueError("no difference cannot be seen")
    z, y = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power)
    return math.ceil(2 * ((z + y) * sd / difference) ** 2 + z * z / 4)


def visible_score(sd: float, runs: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """The difference of means that so many runs per condition can see; None for fewer than two."""
    z, y = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power)
    left = runs - z * z / 4
    return (z + y) * sd * math.sqrt(2 / left) if left > 1 else None


def visible_diversity(
    repeats: int, strata: int, *, alike: float = 0.25, sd: float = 1, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The difference of two diversities that so many runs of each condition and stratum can see, in the unit of sd: the
    standard deviation of the dissimilarity of two runs. None for fewer runs than `diversity.cell` needs.

    alike: the correlation (0 to 0.5) of two pairs that share a run; each run then has an effect of variance alike sd²,
    and each pair one of (1 - 2 alike) sd². A cell's mean has the variance sd² (4 alike / n + 2 (1 - 2 alike) / (n (n -
    1))), a difference twice that divided by the strata, with 2 strata (n - 1) degrees of freedom.
    Source: as `diversity.cell` and `diversity.estimate`, which test it.
    """
    if repeats < LEAST_ANSWERS:
        return None
    degrees = 2 * strata * (repeats - 1)
    error = sd * math.sqrt(2 * (4 * alike / repeats + 2 * (1 - 2 * alike) / (repeats * (repeats - 1))) / strata)
    return (t_quantile(1 - alpha, degrees) + t_quantile(2 * power - 1, degrees)) * error


def repeats_for_diversity(
    difference: float, strata: int, *, alike: float = 0.25, sd: float = 1, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Runs of each condition and stratum to see a difference of diversities; `visible_diversity` solved for it. Raises
    ValueError for no difference.
    """
    if not difference:
        raise ValueError("no difference cannot be seen")

    def is_enough(repeats: int) -> bool:
        seen = visible_diversity(repeats, strata, alike=alike, sd=sd, alpha=alpha, power=power)
        return seen is not None and seen <= abs(difference)

    return _fewest(LEAST_ANSWERS, is_enough)


def clustered(runs: int, per_prompt: int, correlation: float) -> int:
    """As many runs as `runs` independent ones are worth, where each prompt has per_prompt of them and its effect
    differs: correlation (0 to 1) is that of the differences between conditions within a prompt.

    runs (1 + (per_prompt - 1) correlation). Source: Kish, "Survey Sampling" (1965), section 5.4.
    """
    return math.ceil(runs * (1 + (per_prompt - 1) * correlation))
