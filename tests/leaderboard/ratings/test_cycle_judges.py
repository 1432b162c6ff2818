"""Judges: severity, agreement and what the sandbox saw, against numbers worked out by hand."""

import numpy as np
import pytest

from leaderboard.ratings.agreement import krippendorff_alpha
from leaderboard.ratings.judging import judging
from leaderboard.ratings.statistics import Estimate, jackknifed, mean_estimate, pearson
from leaderboard.ratings.values import Reason, Undefined
from tests.leaderboard.ratings.coding_cycles import cycle

GIVEN = {
    "a": {"b": 8, "c": 6, "d": 7},
    "b": {"a": 5, "c": 4, "d": 6},
    "c": {"a": 3, "b": 4, "d": 2},
    "d": {"a": 9, "b": 9},
}
TABLE = {(solver, judge): vote for solver, votes in GIVEN.items() for judge, vote in votes.items()}


def of(name, found):
    return next(judge for judge in found.judges if judge.name == name)


def test_severity_is_what_a_judge_gives_less_than_the_others():
    """c gave 6 where others mean 7.5, and 4 where they mean 5.5: 1.5 points less each time."""
    found = judging([cycle("abcd", TABLE)])

    assert of("c", found).severity.value == pytest.approx(1.5)
    assert of("b", found).severity.value == pytest.approx((6.5 - 8 + 2.5 - 4 + 9 - 9) / 3)
    assert (of("c", found).votes, of("c", found).cycles, of("b", found).votes) == (2, 1, 3)
    assert of("b", found).mean.value == 7
    assert of("b", found).spread == pytest.approx(7**0.5)
    assert (found.votes, found.solutions) == (11, 4)
    for figure in (found.alpha, of("b", found).severity, of("b", found).consensus):
        assert figure.interval == Undefined(Reason.TOO_FEW_UNITS), "of one cycle"


def test_the_interval_of_a_correlation_stays_within_one_and_needs_more_than_one_cycle():
    x, alike = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 2, 3, 5, 5, 5])
    y = np.array([1.0, 2, 3, 4, 5, 7])
    low, high = jackknifed(lambda kept: pearson(x[kept], y[kept]), np.arange(6), is_correlation=True).interval
    clusters = np.array([0, 0, 0, 1, 1, 1])
    one = jackknifed(lambda kept: pearson(alike[kept], alike[kept]), clusters, is_correlation=True)

    assert -1 < low < pearson(x, y) < high < 1
    assert one.value == pytest.approx(1)
    assert one.interval == Undefined(Reason.RESTS_ON_ONE)


def test_the_interval_of_severity_takes_a_cycle_for_one_observation():
    """Two cycles with differences 1, 3 and 0, 0: mean 1, sums about it 2 and -2, error √(2 · 8) / 4 = 1."""
    rows = [{("a", "j"): 4, ("a", "o"): 5, ("b", "j"): 2, ("b", "o"): 5}, {"a": 6, "b": 6}]
    found = of("j", judging([cycle("abjo", row) for row in rows]))

    assert found.severity.value == pytest.approx(1)
    assert found.severity.interval == pytest.approx((1 - 12.706205, 1 + 12.706205))
    assert (found.severity.units, found.severity.clusters) == (4, 2)


def test_votes_are_held_against_what_the_sandbox_saw_and_against_each_other():
    """a ranks b, c, d as 5, 3, 9; the sandbox as 0.5, 0.9, 0.1: exactly the other way round but for one pair."""
    found = judging([cycle("abcd", TABLE, passed={"a": 1.0, "b": 0.5, "c": 0.9, "d": 0.1})])

    assert of("a", found).passed.value == pytest.approx(-1)
    assert of("d", found).passed.value == pytest.approx(0.5)  # votes 7, 6, 2 and shares 1.0, 0.5, 0.9
    assert found.consensus.value == pytest.approx(-0.4)  # means 7, 5, 3, 9 and shares 1.0, 0.5, 0.9, 0.1

    x = np.nan
    table = [[x, 5, 3, 9], [8, x, 4, 9], [6, 4, x, x], [7, 6, 2, x]]

    judged = judging([cycle("abcd", TABLE)])

    assert judged.alpha.value == pytest.approx(krippendorff_alpha(table, "interval"))
    assert (judged.alpha.units, judged.alpha.clusters) == (4, 1)
    found = of("b", judged)
    assert found.consensus.value == pytest.approx(np.corrcoef([8, 4, 9], [6.5, 2.5, 9])[0, 1])
    assert found.consensus_ranks.value == pytest.approx(1)


def test_what_does_not_exist_has_a_reason_and_is_never_nought():
    constant = judging([cycle("abcd", dict.fromkeys("abcd", 7), passed=dict.fromkeys("abcd", 1.0))])
    alone = judging([cycle("abc", {("a", "b"): 3})])

    assert constant.alpha.value == Undefined(Reason.CONSTANT)
    assert constant.consensus.value == Undefined(Reason.CONSTANT)
    assert of("a", constant).consensus.value == Undefined(Reason.CONSTANT)
    assert of("a", constant).spread == 0
    assert of("b", alone).severity.value == Undefined(Reason.NOTHING_PAIRED)
    assert of("b", alone).consensus.value == Undefined(Reason.NOTHING_PAIRED)
    assert of("b", alone).passed.value == Undefined(Reason.NOTHING_RUN)
    assert of("b", alone).spread == Undefined(Reason.TOO_FEW_UNITS)
    assert alone.alpha.value == Undefined(Reason.NOTHING_PAIRED)
    assert alone.consensus.value == Undefined(Reason.NOTHING_RUN)

    found = of("c", judging([cycle("abc", {("a", "b"): 3, ("b", "a"): 4})]))

    assert (found.votes, found.cycles) == (0, 0)
    assert found.mean == Estimate(Undefined(Reason.NO_VOTES), Undefined(Reason.NO_VOTES), 0, 0)
    assert found.spread == Undefined(Reason.NO_VOTES)


def test_a_mean_has_the_usual_error_and_beyond_fifty_clusters_several_are_left_out_at_a_time():
    values = np.array([1.0, 2.0, 4.0, 5.0])
    found = mean_estimate(values, np.arange(4), empty=Reason.NO_VOTES)

    assert found.value == 3
    assert found.interval == pytest.approx((3 - 3.1824463 * (10 / 12) ** 0.5, 3 + 3.1824463 * (10 / 12) ** 0.5))
    jackknife = jackknifed(lambda kept: float(values[kept].mean()), np.arange(4))
    assert jackknife == Estimate(3.0, pytest.approx(found.interval), 4, 4)

    values, asked = np.random.default_rng(1).normal(size=400), []
    found = jackknifed(lambda kept: asked.append(kept.sum()) or float(values[kept].mean()), np.arange(400))

    assert len(asked) == 51
    usual = mean_estimate(values, np.arange(400), empty=Reason.NO_VOTES).interval
    assert found.interval == pytest.approx(usual, abs=0.05)
