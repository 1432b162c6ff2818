"""Rates that a judge gives of all units, corrected by what people say of some: against published figures, and by
simulation with judges whose errors are known.
"""

import math

import numpy as np
import pytest

from leaderboard.ratings.prevalence import Rate, corrected, ratio, rogan_gladen, standing_for
from leaderboard.ratings.values import NORMAL, Reason, Undefined

LABELS = [1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0]
SAID = [0.9, 0.4, 0.3, 0.6, 0.4, 0.1, 0.8, 0.7, 0.5, 0.2, 0.9, 0.3]
OTHERS = [0.8, 0.1, 0.3, 0.7, 0.2, 0.6, 0.4, 0.9, 0.5, 0.2, 0.3, 0.1, 0.6, 0.7, 0.2, 0.4, 0.1, 0.3, 0.8, 0.5]


def test_the_correction_is_that_of_the_reference_implementation():
    """ppi_mean_pointestimate and ppi_mean_ci (alpha 0.05) of ppi-python 0.2.3, by PPI++'s authors, on the lists."""
    for power, value, low, high in (
        (None, 0.46326405462741976, 0.19666273570763687, 0.7298653735472027),
        (1, 0.42666666666666664, 0.14577901452269537, 0.7075543188106379),
        (0, 0.5, 0.21710356648095702, 0.7828964335190429),
    ):
        found = corrected(SAID + OTHERS, LABELS + [math.nan] * len(OTHERS), power=power)
        assert found.value == pytest.approx(value, abs=1e-9), power
        assert found.error == pytest.approx((high - low) / 2 / NORMAL * math.sqrt(12 / 11), abs=1e-9), power
        assert (found.units, found.clusters) == (12, 12), power


def test_strata_count_by_their_units_and_the_error_is_that_of_stratified_sampling():
    strata = [0] * 6 + [1] * 4
    labels = [1, 0, 0, math.nan, math.nan, math.nan, 1, 1, 0, 1]
    within = 0.6**2 * (2 / 9) / 3 + 0.4**2 * (3 / 16) / 4
    between = (0.6 * (1 / 3 - 0.5) ** 2 + 0.4 * (3 / 4 - 0.5) ** 2) / 10

    found = corrected(strata, labels, strata=strata)

    assert found.value == pytest.approx(0.6 / 3 + 0.4 * 3 / 4, abs=1e-9)
    assert found.error == pytest.approx(math.sqrt((within + between) * 7 / 5), abs=1e-9)
    assert standing_for(strata, ~np.isnan(labels)) == pytest.approx([2, 2, 2, 0, 0, 0, 1, 1, 1, 1])
    none_found = corrected([0] * 400, [0] * 20 + [math.nan] * 380)
    assert none_found.value == 0
    assert 3 / 20 < none_found.interval[1] < 4 / 20, "the rule of three, and more"


def test_rogan_gladen_is_as_the_manual_of_rsurveillance_has_it():
    # RSurveillance 0.2.1, tp(20, 120, 0.9, 0.99, "normal"): 0.17603, 0.1011094 to 0.2509506
    raw = Rate(1 / 6, math.sqrt(1 / 6 * 5 / 6 / 120), (0, 1), 120, 120)
    sensitivity, specificity = Rate(0.9, 0.0, (0.9, 0.9), 0, 0), Rate(0.99, 0.0, (0.99, 0.99), 0, 0)

    found = rogan_gladen(raw, sensitivity, specificity)

    assert found.value == pytest.approx((1 / 6 + 0.99 - 1) / 0.89, abs=1e-9)
    assert found.interval == pytest.approx((0.1011094, 0.2509506), abs=5e-8)
    measured = [Rate(share, math.sqrt(share * (1 - share) / 80), (0, 1), 80, 80) for share in (0.9, 0.99)]
    p = found.value
    wider = 1 / 6 * 5 / 6 / 120 + p**2 * 0.9 * 0.1 / 80 + (1 - p) ** 2 * 0.99 * 0.01 / 80
    assert rogan_gladen(raw, *measured).error == pytest.approx(math.sqrt(wider) / 0.89, abs=1e-9)


def test_a_rate_that_labels_do_not_give_has_a_reason():
    unlabeled, few = Undefined(Reason.UNLABELED), Undefined(Reason.TOO_FEW_UNITS)
    assert corrected([], []).value == corrected([1, 0], [math.nan] * 2).value == unlabeled
    assert corrected([1, 0], [1, math.nan], strata=[1, 0]).value == ratio([0], [0], [0]).value == unlabeled
    assert corrected([1, 0, 0], [1, 0, 1], strata=[1, 0, 0]).interval == few
    assert corrected([1, 0, 0], [1, 0, 1], clusters=[4, 4, 4]).interval == few
    assert ratio([1, 0], [1, 1], [7, 7]).interval == few
    assert corrected([3] * 4, [3] * 4, high=math.inf).interval == Undefined(Reason.NO_SPREAD)
    assert rogan_gladen(*[ratio([1, 0], [1, 1], [0, 1])] * 3).value == Undefined(Reason.USELESS_JUDGE)


def within(rounds, low=0.93, high=0.97):
    """The counts that true coverages between low and high give in 999 of 1000 simulations, or more."""
    reach = 3.29 if rounds < 1000 else 0
    spread = [reach * math.sqrt(rounds * share * (1 - share)) for share in (low, high)]
    return rounds * low - spread[0], rounds * high + spread[1]


def judged_and_labeled(random, *, rate, sensitivity, specificity, runs, labels):
    """1,000 units in runs of five, whose own rates differ; labels: how many, half of them where the judge says yes."""
    of_run = random.beta(2 * rate, 2 * (1 - rate), runs) if runs else np.full(1000, rate)
    clusters = np.arange(1000) % (runs or 1000)
    truth = (random.random(1000) < of_run[clusters]) * 1.0
    judged = np.where(truth == 1, random.random(1000) < sensitivity, random.random(1000) > specificity) * 1.0
    given = np.full(1000, np.nan)
    for value in (0, 1):
        drawn = random.choice(np.flatnonzero(judged == value), labels // 2, replace=False)
        given[drawn] = truth[drawn]
    alone = random.choice(1000, labels, replace=False)
    return judged, given, clusters, ratio(truth[alone], np.ones(labels), clusters[alone])


GOOD, FINDS_TOO_MUCH, MISSES_SOME = (0.3, 0.9, 0.9), (0.5, 0.85, 0.7), (0.2, 0.7, 0.98)


@pytest.mark.parametrize(
    ("rate", "sensitivity", "specificity", "runs", "rounds"),
    [
        (*FINDS_TOO_MUCH, 0, 150),
        (*MISSES_SOME, 200, 150),
        *(
            pytest.param(*judge, runs, 4000, marks=pytest.mark.exhaustive)
            for judge in (GOOD, FINDS_TOO_MUCH, MISSES_SOME)
            for runs in (0, 200)
        ),
    ],
)
def test_intervals_hold_whatever_the_judge_errs_and_are_narrower(rate, sensitivity, specificity, runs, rounds):
    random = np.random.default_rng(20230113)
    errors = {"rate": rate, "sensitivity": sensitivity, "specificity": specificity}
    covered, raw_covered, widths = 0, 0, []
    for _ in range(rounds):
        judged, given, clusters, alone = judged_and_labeled(random, **errors, runs=runs, labels=100)
        low, high = corrected(judged, given, strata=judged, clusters=clusters).interval
        raw = ratio(judged, np.ones(1000), clusters).interval
        covered += low <= rate <= high
        raw_covered += raw[0] <= rate <= raw[1]
        widths.append((high - low, alone.interval[1] - alone.interval[0]))

    least, most = within(rounds)
    assert least <= covered <= most
    assert raw_covered < 0.93 * rounds  # the judge's own interval is of another figure
    ours, labels_alone = np.mean(widths, axis=0)
    assert ours < 0.95 * labels_alone
