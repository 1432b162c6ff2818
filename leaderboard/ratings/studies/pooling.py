"""One figure of several studies: random effects, how far studies differ beyond chance, where a further one would be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import NORMAL, FloatArray, Reason, Undefined

STEPS = 200  # of halving: more than a double has digits


@dataclass(frozen=True, slots=True)
class Pooled:
    """value, low, high: the mean of what such studies would find, by Paule and Mandel with the 95 % interval of
    Hartung, Knapp, Sidik and Jonkman. by_dl: the same by DerSimonian and Laird, with a normal interval. tau2, dl_tau2:
    variances between studies, in squared units of the figure. q: Cochran's, of `studies` - 1 degrees of freedom. i2: 0
    to 1, of the variation the share that is more than chance. predicted: where the figure of a further study would
    lie with 95 %; None below three studies.
    """

    studies: int
    value: float
    low: float
    high: float
    tau2: float
    q: float
    i2: float
    by_dl: Difference
    dl_tau2: float
    predicted: tuple[float, float] | None


def pooled(values: Sequence[float], errors: Sequence[float], *, most: float = math.inf) -> Pooled | Undefined:
    """The random-effects summary of independent studies.

    values: the figure of each study; errors: their standard errors, above 0. most: no figure is further than this from
    0, so that intervals end there: 1 of differences of rates. Undefined below two studies, and where an
    error is 0 or not a number. The factor of the Hartung-Knapp interval is never below 1, so that studies that happen
    to agree make no interval narrower than their own errors allow.
    Sources: DerSimonian & Laird, Control. Clin. Trials 7 (1986); Paule & Mandel, J. Res. Natl. Bur. Stand. 87 (1982);
    Hartung & Knapp, Stat. Med. 20 (2001); the factor: Röver, Knapp & Friede, BMC Med. Res. Methodol. 15 (2015);
    I²: Higgins & Thompson, Stat. Med. 21 (2002); further studies: Higgins, Thompson & Spiegelhalter, J. R. Stat. Soc. A
    172 (2009).
    """
    found, variances = np.asarray(values, dtype=np.float64), np.square(np.asarray(errors, dtype=np.float64))
    count = len(found)
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    if not (np.isfinite(found).all() and np.isfinite(variances).all() and (variances > 0).all()):
        return Undefined(Reason.NO_SPREAD)
    fixed = 1 / variances
    q = _spread(found, fixed)
    dl_tau2 = max(0.0, (q - (count - 1)) / float(fixed.sum() - np.square(fixed).sum() / fixed.sum()))
    dl_value, dl_error = _weighted(found, 1 / (variances + dl_tau2))
    tau2 = _paule_mandel(found, variances)
    weights = 1 / (variances + tau2)
    value, error = _weighted(found, weights)
    error *= math.sqrt(max(1.0, _spread(found, weights) / (count - 1)))
    half = t_quantile(0.95, count - 1) * error
    predicted = None
    if count > 2:
        reach = t_quantile(0.95, count - 2) * math.sqrt(tau2 + error**2)
        predicted = _within(value, reach, most)
    low, high = _within(value, half, most)
    return Pooled(
        studies=count,
        value=value,
        low=low,
        high=high,
        tau2=tau2,
        q=q,
        i2=max(0.0, (q - (count - 1)) / q) if q > 0 else 0.0,
        by_dl=Difference(dl_value, *_within(dl_value, NORMAL * dl_error, most)),
        dl_tau2=dl_tau2,
        predicted=predicted,
    )


def _within(value: float, half: float, most: float) -> tuple[float, float]:
    return max(-most, value - half), min(most, value + half)


def _weighted(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The weighted mean and its standard error."""
    return float(values @ weights / weights.sum()), float(weights.sum() ** -0.5)


def _spread(values: FloatArray, weights: FloatArray) -> float:
    return float(weights @ np.square(values - values @ weights / weights.sum()))


def _paule_mandel(values: FloatArray, variances: FloatArray) -> float:
    """The tau² at which the weighted squares come to their expectation, by halving; 0 where they are below it at 0."""
    degrees = len(values) - 1

    def is_above(tau2: float) -> bool:
        return _spread(values, 1 / (variances + tau2)) > degrees

    if not is_above(0.0):
        return 0.0
    low, high = 0.0, max(float(np.square(values - values.mean()).sum()), float(variances.max()))
    while is_above(high):
        high *= 2
    for _step in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_above(middle) else (low, middle)
    return (low + high) / 2
