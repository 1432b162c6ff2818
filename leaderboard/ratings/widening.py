"""How much wider intervals are where the votes of one voter count as one observation."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import IntArray
from leaderboard.ratings.battles import Battles
from leaderboard.ratings.intervals import Intervals, sandwich
from leaderboard.ratings.scale import COVERAGE, NORMAL
from leaderboard.ratings.student import t_quantile
from leaderboard.ratings.undefined import Reason, Undefined

NO_SPREAD = 0.01  # Elo: a standard error below it means that all battles came out alike


def clusters_of_each(battles: Battles, clusters: ArrayLike) -> IntArray:
    """In how many clusters each contestant was compared. Shape n; clusters: one number from 0 on per battle."""
    count = len(battles.contestants)
    sides = np.concatenate([battles.left, battles.right])
    met = np.unique(np.tile(np.asarray(clusters, dtype=np.int64), 2) * count + sides)
    return np.bincount(met % max(count, 1), minlength=count)


def careful(intervals: Intervals, clusters: IntArray) -> Intervals:
    """The same intervals as wide as few clusters ask for. clusters: n, in how many each contestant was compared.

    Errors are multiplied by √(g / (g - 1)) · t(g - 1) / 1.96, so that rating ± 1.96 errors is a t interval; nan for
    g = 1, of which nothing can be learned about another cluster.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    factors = np.array([factor(count) for count in clusters.tolist()])
    errors, values = intervals.errors * factors, intervals.ratings.values
    covariance = intervals.covariance * np.outer(factors, factors)
    lower, upper = values - NORMAL * errors, values + NORMAL * errors
    return replace(intervals, lower=lower, upper=upper, errors=errors, covariance=covariance)


def _careful(battles: Battles, clusters: ArrayLike) -> Intervals:
    return careful(sandwich(battles, clusters=clusters), clusters_of_each(battles, clusters))


def factor(clusters: int) -> float:
    """√(g / (g - 1)) · t(g - 1) / 1.96: by how much errors from g clusters are too small; nan for g = 1."""
    if clusters < 2:
        return math.nan
    return math.sqrt(clusters / (clusters - 1)) * t_quantile(COVERAGE, clusters - 1) / NORMAL


def widening(battles: Battles, clusters: ArrayLike, beside: ArrayLike | None = None) -> float | Undefined:
    """The median, over who is rated, of the width by clusters over the width by others, those `beside`; without them
    over the width that takes battles for independent.

    For few clusters the former is made wider by √(g / (g - 1)) · t(g - 1) / 1.96, g being their number. Undefined for
    one cluster, of which nothing can be learned about another one, and where nothing varies.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    count = len(np.unique(np.asarray(clusters)))
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    with np.errstate(invalid="ignore"):  # a spread of nothing may come out as less than nothing
        together = sandwich(battles, clusters=clusters).errors
        alone = sandwich(battles).errors if beside is None else _careful(battles, beside).errors
    known = np.isfinite(alone) & np.isfinite(together) & (np.nan_to_num(alone) > NO_SPREAD)
    if not known.any():
        return Undefined(Reason.NO_SPREAD)
    return float(np.median(together[known] / alone[known])) * factor(count)
