"""How much wider intervals are where the votes of one voter count as one observation."""

import math

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.battles import Battles
from leaderboard.ratings.intervals import sandwich
from leaderboard.ratings.scale import COVERAGE, NORMAL
from leaderboard.ratings.student import t_quantile
from leaderboard.ratings.undefined import Reason, Undefined

NO_SPREAD = 0.01  # Elo: a standard error below it means that all battles came out alike


def widening(battles: Battles, clusters: ArrayLike) -> float | Undefined:
    """The median, over who is rated, of the width by clusters over the width that takes battles for independent.

    For few clusters the former is made wider by √(g / (g - 1)) · t(g - 1) / 1.96, g being their number. Undefined for
    one cluster, of which nothing can be learned about another one, and where nothing varies.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    count = len(np.unique(np.asarray(clusters)))
    if count < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    with np.errstate(invalid="ignore"):  # a spread of nothing may come out as less than nothing
        alone, together = sandwich(battles).errors, sandwich(battles, clusters=clusters).errors
    known = np.isfinite(alone) & np.isfinite(together) & (np.nan_to_num(alone) > NO_SPREAD)
    if not known.any():
        return Undefined(Reason.NO_SPREAD)
    careful = math.sqrt(count / (count - 1)) * t_quantile(COVERAGE, count - 1) / NORMAL
    return float(np.median(together[known] / alone[known])) * careful
