"""Several studies as one: the vaccine trials of the literature to 1e-9, and what cannot be pooled."""

import math

import numpy as np
import pytest

from leaderboard.ratings.studies.pooling import Pooled, pooled
from leaderboard.ratings.values import Reason, Undefined

NEAR = pytest.approx
# Cases and others, vaccinated and not, in 13 trials of the BCG vaccine: Colditz et al., JAMA 271 (1994); `dat.bcg` of
# the R package metafor (Viechtbauer, J. Stat. Softw. 36, 2010).
VACCINATED = ((4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886), (29, 7470))
VACCINATED += ((17, 1699), (186, 50448), (5, 2493), (27, 16886))
OTHERS = ((11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892), (45, 7232))
OTHERS += ((65, 1600), (141, 27197), (3, 2338), (29, 17825))


def log_risk_ratios():
    (a, b), (c, d) = (np.array(side, dtype=float).T for side in (VACCINATED, OTHERS))
    return np.log(a / (a + b)) - np.log(c / (c + d)), np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))


def test_the_vaccine_trials_have_the_published_summary():
    """To four digits as `rma(measure="RR")` of metafor prints it; to 1e-9 as `combine_effects` of statsmodels."""
    found = pooled(*log_risk_ratios())
    assert isinstance(found, Pooled)

    assert (round(found.by_dl.value, 4), round(found.by_dl.low, 4), round(found.by_dl.high, 4)) == (
        -0.7141,
        -1.0644,
        -0.3638,
    )
    assert (round(found.dl_tau2, 4), round(found.q, 4), round(100 * found.i2, 2)) == (0.3088, 152.2330, 92.12)
    digits = (0.3087602628623761, 152.2330080823733, 0.9211734685456205)
    assert (found.dl_tau2, found.q, found.i2) == NEAR(digits, abs=1e-9)
    assert found.by_dl.value == NEAR(-0.7141172220732273, abs=1e-9)
    assert (found.tau2, found.value) == NEAR((0.31806845220382035, -0.7149681534933371), abs=1e-9)
    assert (found.low, found.high) == NEAR((-1.109098381202079, -0.32083792578459525), abs=1e-9)


def test_a_further_trial_lies_further_away_than_the_mean():
    found = pooled(*log_risk_ratios())
    low, high = found.predicted

    assert low < found.low < found.value < found.high < high
    assert pooled([0.1, 0.3], [0.1, 0.1]).predicted is None, "two studies do not say how far studies differ"


def test_studies_that_agree_are_not_narrower_than_their_errors():
    found = pooled([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])

    assert (found.tau2, found.dl_tau2, found.q, found.i2) == NEAR((0, 0, 0, 0), abs=1e-12)
    assert found.high - found.value == NEAR(4.302652729749462 * 0.1 / 3**0.5), "t of two degrees of freedom"


def test_no_interval_of_rates_leaves_the_scale():
    found, free = (pooled([-0.6, 0.3, -0.1], [0.16, 0.18, 0.19], most=most) for most in (1.0, math.inf))

    assert free.low < -1
    assert (found.low, found.high, found.predicted) == (-1.0, free.high, (-1.0, 1.0))
    assert (found.value, found.by_dl) == (free.value, free.by_dl)


def test_one_study_and_one_without_an_error_are_refused():
    for values, errors, reason in (
        ([0.2], [0.1], Reason.TOO_FEW_UNITS),
        ([0.2, 0.3], [0.1, 0.0], Reason.NO_SPREAD),
        ([0.2, float("nan")], [0.1, 0.1], Reason.NO_SPREAD),
    ):
        assert pooled(values, errors) == Undefined(reason)
