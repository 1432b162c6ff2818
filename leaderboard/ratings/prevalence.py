"""How often something holds, or how much of it there is, where a judge says it of all units and people of a sample.

A rate that a judge gives is off by the judge's errors, however many units it has judged. Labels by people on a sample,
drawn with known chances, say by how much: `corrected` is the judge's mean plus what the labels add to it, with an
interval that holds whatever the judge's errors are. `rogan_gladen` is the correction by sensitivity and specificity,
for comparison. `ratio` gives the rates that both need, and shares of agreement.

Units come in strata (those that were equally likely to be drawn: a stratum's chance is its labels over its units) and
in clusters (what was said in one run is not independent). No function takes a judge's word for a label.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.values import COVERAGE, NORMAL, BoolArray, FloatArray, IntArray, Reason, Undefined

NOTHING = 1e-12  # of a variance: what rounding leaves of none
JEFFREYS = 0.5  # labels that are added at each bound


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a mean. error: its standard error. interval: its 95 % interval, low and high. units: how many labels
    it rests on, in so many clusters.
    """

    value: float | Undefined
    error: float | Undefined
    interval: tuple[float, float] | Undefined
    units: int
    clusters: int

    @staticmethod
    def missing(reason: Reason, units: int = 0, clusters: int = 0) -> "Rate":
        return Rate(Undefined(reason), Undefined(reason), Undefined(reason), units, clusters)


def corrected(
    judged: ArrayLike,
    labels: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    power: float | None = None,
    low: float = 0.0,
    high: float = 1.0,
) -> Rate:
    """The mean of what people would have said of all units, from a judge's values and the labels of some.

    judged: the judge's value of every unit. labels: people's, nan where there is none. strata, clusters: a number per
    unit; one stratum, and each unit a cluster, without them. power: how much the judge counts, 0 (labels alone) to 1
    (prediction-powered inference); without it what makes the error least, in each stratum (PPI++). low, high: between
    which values labels lie; `high` may be infinite.

    In a stratum with n labels y, values f of the same units and f' of the M others the mean is mean(y) + power ·
    (mean(f') - mean(f)); the strata count by their units. The error is the linearized one by clusters, times the root
    of g / (g - strata) for g clusters with labels. The interval is Wilson's with Student's t of g - strata degrees, and
    within it each stratum's labels vary as if half a label at each bound were added to them (Jeffreys' prior), where
    that is more; without an upper bound it is value ± t · error.
    Undefined where a stratum has no label; no interval where one has fewer than two, or all are in one cluster.
    Raises ValueError for lists of different lengths, or judged values that are not finite.
    Sources: Angelopoulos et al., "Prediction-powered inference", Science 382 (2023); Angelopoulos, Duchi & Zrnic,
    "PPI++", arXiv 2311.01453 (2023), with its formula for the mean; Fisch et al., "Stratified prediction-powered
    inference", arXiv 2406.04291 (2024); clusters: Liang & Zeger, Biometrika 73 (1986).
    """
    f, y = np.asarray(judged, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    stratum, cluster = _numbers(strata, len(f), alone=False), _numbers(clusters, len(f), alone=True)
    if f.ndim != 1 or f.shape != y.shape or not np.isfinite(f).all():
        raise ValueError("there is one finite judged value and one label, which may be nan, for each unit")
    is_labeled = ~np.isnan(y)
    labeled = np.bincount(stratum[is_labeled], minlength=int(stratum.max(initial=-1)) + 1)
    units, groups = int(labeled.sum()), len(np.unique(cluster[is_labeled]))
    if not len(labeled) or not labeled.all():
        return Rate.missing(Reason.UNLABELED, units, groups)
    value, influence = _prediction_powered(f, y, stratum, power)
    degrees = groups - len(labeled)
    if labeled.min() < 2 or degrees < 1:
        too_few = Undefined(Reason.TOO_FEW_UNITS)
        return Rate(value, too_few, too_few, units, groups)
    sums = np.bincount(cluster, influence)
    variance, unmet = float(sums @ sums) * groups / degrees, 0.0
    weights, own = np.bincount(stratum) / len(f), np.zeros(len(labeled))
    for one, weight in enumerate(weights):
        inside = is_labeled & (stratum == one)
        own[one] = len(np.unique(cluster[inside]))
        if math.isfinite(high):
            unmet += (weight * (high - low)) ** 2 * _unmet((y[inside] - low) / (high - low), float(own[one]))
    as_many = 1 / float((weights**2 / own).sum())
    around = _interval(value, math.sqrt(variance + unmet), degrees, as_many, low, high)
    return Rate(value, math.sqrt(variance), around, units, groups)


def _unmet(shares: FloatArray, groups: float) -> float:
    """What the variance of a mean of shares (0 to 1, in so many clusters) grows by when half a label is added at 0 and
    half a one at 1: what few labels did not meet.
    """
    plain, share = float(shares.var()), float(shares.mean())
    mean = (groups * share + JEFFREYS) / (groups + 2 * JEFFREYS)
    squares = (groups * (plain + share**2) + JEFFREYS) / (groups + 2 * JEFFREYS)
    return max((squares - mean**2) / (groups + 2 * JEFFREYS) - plain / groups, 0.0)


def _prediction_powered(
    f: FloatArray, y: FloatArray, stratum: IntArray, power: float | None
) -> tuple[float, FloatArray]:
    """The estimate, and what each unit adds to its error."""
    is_labeled, influence, mean = ~np.isnan(y), np.zeros(len(f)), np.zeros(int(stratum.max()) + 1)
    for one in range(len(mean)):
        inside = stratum == one
        with_label, without = inside & is_labeled, inside & ~is_labeled
        known, said, other = y[with_label], f[with_label], f[without]
        counts, weight = power if power is not None else _least_error(known, said, other), inside.mean()
        counts = counts if len(other) else 0.0
        rest = known - counts * said
        mean[one] = rest.mean() + (counts * other.mean() if len(other) else 0.0)
        influence[with_label] = weight * (rest - rest.mean()) / len(known)
        if len(other):
            influence[without] = weight * counts * (other - other.mean()) / len(other)
    value = float(mean[stratum].mean())
    return value, influence + (mean[stratum] - value) / len(f)


def _least_error(known: FloatArray, said: FloatArray, other: FloatArray) -> float:
    """cov(y, f) / ((1 + n / M) var(f)), within 0 and 1: section 6 of PPI++."""
    if not len(other):
        return 0.0
    spread = float(np.var(np.concatenate([said, other]), ddof=1))
    together = float(np.mean((known - known.mean()) * (said - said.mean())))
    return min(max(together / ((1 + len(known) / len(other)) * spread), 0.0), 1.0) if spread > NOTHING else 0.0


def ratio(parts: ArrayLike, wholes: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None) -> Rate:
    """Σ weight · part / Σ weight · whole over units, a share from 0 to 1, with its interval by clusters.

    parts: from 0 to the whole of each. weights: how many units each stands for. The error is that of a ratio of sums
    over g clusters, with the factor g / (g - 1); the interval is Wilson's for as many independent units as would have
    that error, with Student's t; of none and of all, for g. Undefined where the wholes are all 0.
    Sources: Kish, "Survey Sampling" (1965), chapter 6; Korn & Graubard, Survey Methodology 24 (1998).
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    heavy = np.ones(len(part)) if weights is None else np.asarray(weights, dtype=np.float64)
    counts = heavy * whole > 0
    part, whole = (heavy * part)[counts], (heavy * whole)[counts]
    numbers = _numbers(np.asarray(clusters)[counts], len(part), alone=True)
    groups, total = int(numbers.max(initial=-1)) + 1, float(whole.sum())
    if not groups:
        return Rate.missing(Reason.UNLABELED)
    value = min(float(part.sum()) / total, 1.0)
    if groups < 2:
        too_few = Undefined(Reason.TOO_FEW_UNITS)
        return Rate(value, too_few, too_few, len(part), groups)
    beyond = np.bincount(numbers, part - value * whole)
    error = math.sqrt(groups / (groups - 1) * float(beyond @ beyond)) / total
    return Rate(value, error, _interval(value, error, groups - 1, groups, 0.0, 1.0), len(part), groups)


def rogan_gladen(raw: Rate, sensitivity: Rate, specificity: Rate) -> Rate:
    """(raw + specificity - 1) / (sensitivity + specificity - 1), cut at 0 and 1: the rate of what is so, from how often
    a judge says it, how often it does where it is so, and how often it does not where it is not.

    The variance is (var(raw) + p² var(sensitivity) + (1 - p)² var(specificity)) / (sensitivity + specificity - 1)², as
    if the three were independent; the interval is the normal one, cut at 0 and 1. Undefined where one of the three is,
    and where the judge is no better than chance. An error of 0 stands for a figure that is known.
    Source: Rogan & Gladen, "Estimating prevalence from the results of a screening test", Am. J. Epidemiol. 107 (1978).
    """
    units, clusters = sensitivity.units + specificity.units, min(sensitivity.clusters, specificity.clusters)
    three = (raw, sensitivity, specificity)
    known = [one.value for one in three if not isinstance(one.value, Undefined)]
    if len(known) < len(three):
        missing = next(one.value.reason for one in three if isinstance(one.value, Undefined))
        return Rate.missing(missing, units, clusters)
    said, sensitive, specific = known
    apart = sensitive + specific - 1
    if apart <= NOTHING:
        return Rate.missing(Reason.USELESS_JUDGE, units, clusters)
    value = (said + specific - 1) / apart
    shown, shares = min(max(value, 0.0), 1.0), (1.0, value, 1 - value)
    variance = 0.0
    for one, share in zip(three, shares, strict=True):
        if isinstance(one.error, Undefined):
            return Rate(shown, one.error, one.error, units, clusters)
        variance += (share * one.error / apart) ** 2
    half = NORMAL * math.sqrt(variance)
    around = (min(max(value - half, 0.0), 1.0), min(max(value + half, 0.0), 1.0))
    return Rate(shown, math.sqrt(variance), around, units, clusters)


def standing_for(strata: ArrayLike, is_labeled: BoolArray) -> FloatArray:
    """How many units each labeled one stands for: those of its stratum over the labeled ones among them; 0 elsewhere.

    Raises ValueError for lists of different lengths.
    """
    numbers = _numbers(strata, len(is_labeled), alone=False)
    labeled = np.bincount(numbers[is_labeled], minlength=int(numbers.max(initial=-1)) + 1)
    return np.where(is_labeled, (np.bincount(numbers) / np.maximum(labeled, 1))[numbers], 0.0)


def _interval(
    value: float, error: float, degrees: int, as_many: float, low: float, high: float
) -> tuple[float, float] | Undefined:
    """Wilson's interval within bounds; without an upper one the value ± t · error. as_many: how many independent units
    the value counts for where it is one of the bounds.
    """
    t = t_quantile(COVERAGE, degrees)
    if not math.isfinite(high):
        if error**2 < NOTHING:
            return Undefined(Reason.NO_SPREAD)
        return max(value - t * error, low), value + t * error
    share, spread = (value - low) / (high - low), (error / (high - low)) ** 2
    if spread > NOTHING and NOTHING < share < 1 - NOTHING:
        as_many = share * (1 - share) / spread
    middle = (share + t * t / (2 * as_many)) / (1 + t * t / as_many)
    half = t / (1 + t * t / as_many) * math.sqrt(max(share * (1 - share), 0.0) / as_many + (t / (2 * as_many)) ** 2)
    return low + (high - low) * max(middle - half, 0.0), low + (high - low) * min(middle + half, 1.0)


def _numbers(given: ArrayLike | None, units: int, *, alone: bool) -> IntArray:
    """Numbers from 0 up without gaps; without any given each unit alone, or all together."""
    if given is None:
        return np.arange(units) if alone else np.zeros(units, dtype=np.int64)
    found = np.asarray(given)
    if found.shape != (units,):
        raise ValueError("there is one number for each unit")
    return np.unique(found, return_inverse=True)[1].reshape(-1)
