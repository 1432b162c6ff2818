"""Outcomes that happened in a run or did not: rates, their differences, an exact test, and bounds for missing runs."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.statistics import wilson
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined

SAME = 1 + 1e-9  # probabilities that rounding alone tells apart


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of one condition less that of another, with its interval."""

    value: float
    low: float
    high: float


def newcombe(p1: float, n1: float, p2: float, n2: float, *, confidence: float = COVERAGE) -> Difference:
    """The difference of two rates with its hybrid score interval, which holds for few runs and rates of 0 and 1 too.

    p1 of n1 runs less p2 of n2, -1 to 1: d - √((p1 - l1)² + (u2 - p2)²) to d + √((u1 - p1)² + (p2 - l2)²), with
    Wilson's limits l and u.
    Source: Newcombe, "Interval estimation for the difference between independent proportions", Stat. Med. 17 (1998),
    method 10.
    """
    (l1, u1), (l2, u2) = wilson(p1, n1, confidence), wilson(p2, n2, confidence)
    value = p1 - p2
    return Difference(value, value - math.hypot(p1 - l1, u2 - p2), value + math.hypot(u1 - p1, p2 - l2))


def rate_difference(
    happened: BoolArray, is_first: BoolArray, prompts: IntArray, *, confidence: float = COVERAGE
) -> Difference | Undefined:
    """The first condition's rate less the second's, each the mean of its prompts' rates, by Newcombe's interval.

    Each rate counts as one of n* independent runs: see `effective`. Undefined where a condition has no run.
    """
    if is_first.all() or not is_first.any():
        return Undefined(Reason.TOO_FEW_UNITS)
    (p1, n1), (p2, n2) = (effective(happened[side], prompts[side]) for side in (is_first, ~is_first))
    return newcombe(p1, n1, p2, n2, confidence=confidence)


def effective(happened: BoolArray, prompts: IntArray) -> tuple[float, float]:
    """The mean of the prompts' rates, and as how many independent runs it counts for further runs of these prompts.

    n* = p (1 - p) / V, with V the variance of the mean of K rates, Σ pk (1 - pk) / nk / K²; each pk with one run more
    at the rate p, for of few runs all may be alike. Of one prompt, of none and of all, n* is the number of runs.
    Source: Korn & Graubard, Survey Methodology 24 (1998), on n*.
    """
    numbers = np.unique(prompts, return_inverse=True)[1].reshape(-1)
    runs = np.bincount(numbers).astype(np.float64)
    events = np.bincount(numbers, happened)
    p = float((events / runs).mean())
    near = (events + p) / (runs + 1)
    variance = float((near * (1 - near) / runs).sum()) / len(runs) ** 2
    return p, p * (1 - p) / variance if variance > 0 else float(runs.sum())


def exact_test(
    happened: ArrayLike, is_first: ArrayLike, strata: ArrayLike, *, is_mid_p: bool = True
) -> float | Undefined:
    """The two-sided p-value of "which condition a run had made no difference", given how often it happened per stratum.

    happened, is_first (which of the two conditions): of each run; strata: its prompt, a number. Within a stratum the
    runs could have been assigned either way; over strata the hypergeometric distributions add up, and the p-value is
    the probability of all totals that are no likelier than the one seen. is_mid_p: the one seen counts half, so that
    the test of few runs is not more careful than its level. One stratum and is_mid_p False is Fisher's exact test.
    1 where nothing else could have come out; undefined where no stratum has runs of both conditions.
    Sources: Fisher, "The Design of Experiments" (1935); Gart, Biometrika 57 (1970); Lancaster, JASA 56 (1961).
    """
    outcomes, first = np.asarray(happened, dtype=bool), np.asarray(is_first, dtype=bool)
    groups = np.asarray(strata, dtype=np.int64)
    chances, seen, is_compared = np.ones(1), 0, False
    for stratum in np.unique(groups):
        here = groups == stratum
        is_compared = is_compared or len(np.unique(first[here])) == 2
        runs, events, treated = int(here.sum()), int(outcomes[here].sum()), int((here & first).sum())
        least, chance = _hypergeometric(runs, events, treated)
        chances = np.convolve(chances, chance)
        seen += int((outcomes & first & here).sum()) - least
    if not is_compared:
        return Undefined(Reason.TOO_FEW_UNITS)
    if len(chances) == 1:
        return 1.0
    likely = chances[seen]
    as_unlikely = float(chances[chances <= likely * SAME].sum())
    equal = float(chances[(chances <= likely * SAME) & (chances * SAME >= likely)].sum())
    return min(1.0, as_unlikely - (equal / 2 if is_mid_p else 0.0))


def _hypergeometric(runs: int, events: int, treated: int) -> tuple[int, FloatArray]:
    """The least number of events that the treated runs can have, and the probabilities from there on."""
    least, most = max(0, treated + events - runs), min(treated, events)
    numbers = range(least, most + 1)
    ways = [_log_choose(events, n) + _log_choose(runs - events, treated - n) for n in numbers]
    return least, np.exp(np.array(ways) - _log_choose(runs, treated))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a figure would be, at least and at most, had no outcome been missing."""

    low: float
    high: float


def bounds(
    values: FloatArray, is_first: BoolArray, strata: IntArray, *, least: float, most: float
) -> tuple[Bounds, Bounds, Bounds]:
    """Bounds of the first condition's mean, the second's, and their difference, whatever the missing outcomes were.

    values: NaN where an outcome is missing; least, most: the ends of its scale. Means are those of the strata's means.
    Nothing is assumed of why outcomes are missing, so they are no intervals: with nothing missing they have no width.
    Source: Manski, "Nonparametric bounds on treatment effects", Am. Econ. Rev. 80 (1990).
    """
    ends = [np.where(np.isnan(values), end, values) for end in (least, most)]
    first, second = (
        Bounds(*(mean_of_strata(filled[chosen], strata[chosen]) for filled in ends)) for chosen in (is_first, ~is_first)
    )
    return first, second, Bounds(first.low - second.high, first.high - second.low)


def mean_of_strata(values: FloatArray, strata: IntArray) -> float:
    """The mean of the means of each stratum; NaN without a value."""
    numbers = np.unique(strata, return_inverse=True)[1].reshape(-1)
    if not len(numbers):
        return math.nan
    return float((np.bincount(numbers, values) / np.bincount(numbers)).mean())
