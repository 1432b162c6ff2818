"""Intervals of a statistic of few units, by the bootstrap."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import IntArray
from leaderboard.ratings.undefined import Reason, Undefined

CONFIDENCE = 0.95


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
    found = [statistic(random.integers(units, size=units)) for _ in range(rounds)]
    values = [value for value in found if not isinstance(value, Undefined)]
    if 2 * len(values) <= rounds:
        return Undefined(Reason.MOSTLY_UNDEFINED)
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high), rounds, rounds - len(values))
