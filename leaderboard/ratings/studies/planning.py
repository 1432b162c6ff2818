"""How many runs a study needs for a difference, and which difference it can see with the runs that it has.

A planned number is of each of the two conditions that are compared, after all prompts are counted together.
"""

import math
from statistics import NormalDist

NORMAL = NormalDist()
MOST_RUNS = 1_000_000


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
    sign = 1 if first <= 0.5 else -1
    low, high = 0.0, 1 - first if sign > 0 else first
    if power_for_rates(first, first + sign * high, runs, alpha=alpha) < power:
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        is_seen = power_for_rates(first, first + sign * middle, runs, alpha=alpha) >= power
        low, high = (low, middle) if is_seen else (middle, high)
    return high


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


def clustered(runs: int, per_prompt: int, correlation: float) -> int:
    """As many runs as `runs` independent ones are worth, where each prompt has per_prompt of them and its effect
    differs: correlation (0 to 1) is that of the differences between conditions within a prompt.

    runs (1 + (per_prompt - 1) correlation). Source: Kish, "Survey Sampling" (1965), section 5.4.
    """
    return math.ceil(runs * (1 + (per_prompt - 1) * correlation))
