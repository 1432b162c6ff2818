"""What a cycle may hold; judges and setters of coding cycles, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from leaderboard.ratings.agreement import krippendorff_alpha
from leaderboard.ratings.cycles import Cycle, Vote, calibration, overall, scores
from leaderboard.ratings.judging import judging, setters
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


def test_a_cycle_is_one_observation_and_the_interval_of_a_correlation_stays_within_one():
    """Two cycles with differences 1, 3 and 0, 0: mean 1, sums about it 2 and -2, error √(2 · 8) / 4 = 1."""
    rows = [{("a", "j"): 4, ("a", "o"): 5, ("b", "j"): 2, ("b", "o"): 5}, {"a": 6, "b": 6}]
    found = of("j", judging([cycle("abjo", row) for row in rows]))

    assert found.severity.value == pytest.approx(1)
    assert found.severity.interval == pytest.approx((1 - 12.706205, 1 + 12.706205))
    assert (found.severity.units, found.severity.clusters) == (4, 2)

    x, alike = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 2, 3, 5, 5, 5])
    y = np.array([1.0, 2, 3, 4, 5, 7])
    low, high = jackknifed(lambda kept: pearson(x[kept], y[kept]), np.arange(6), is_correlation=True).interval
    clusters = np.array([0, 0, 0, 1, 1, 1])
    one = jackknifed(lambda kept: pearson(alike[kept], alike[kept]), clusters, is_correlation=True)

    assert -1 < low < pearson(x, y) < high < 1
    assert one.value == pytest.approx(1)
    assert one.interval == Undefined(Reason.RESTS_ON_ONE)


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

    a, b = of("a", constant), of("b", alone)
    assert constant.alpha.value == constant.consensus.value == a.consensus.value == Undefined(Reason.CONSTANT)
    assert (a.spread, b.spread) == (0, Undefined(Reason.TOO_FEW_UNITS))
    assert alone.alpha.value == b.severity.value == b.consensus.value == Undefined(Reason.NOTHING_PAIRED)
    assert alone.consensus.value == b.passed.value == Undefined(Reason.NOTHING_RUN)

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


def problems(*levels, setter="a"):
    return [cycle("abc", {"a": level, "b": level, "c": level}, setter=setter) for level in levels]


def test_the_mean_of_three_problems_by_hand_and_a_vote_for_the_own_one_is_seen_through():
    """5, 7 and 6 are calibrations of 1, 0.6 and 0.8: mean 0.8, s 0.2, t 4.303, so 0.8 ± 0.497, cut at 1."""
    (found,) = setters(problems(5, 7, 6))

    assert (found.name, found.problems, found.scored) == ("a", 3, 3)
    assert found.calibration.value == pytest.approx(0.8)
    assert found.calibration.interval == (pytest.approx(0.8 - 4.302653 * 0.2 / 3**0.5), 1.0)
    assert found.overall.value == pytest.approx(6)
    assert found.overall.interval == pytest.approx((6 - 4.302653 / 3**0.5, 6 + 4.302653 / 3**0.5))
    assert (found.overall.units, found.overall.clusters) == (3, 3)

    pairs = [(solver, judge) for solver in "abc" for judge in "abc" if solver != judge]
    (found,) = setters([cycle("abc", {(s, j): 0 if j == "a" else 10 for s, j in pairs})])

    assert found.calibration.value == pytest.approx(2 / 3)
    assert found.by_others.value == 0


def test_the_sandbox_says_how_hard_it_was_and_who_never_set_what_could_be_played_is_without_figures():
    passed = {"a": 1.0, "b": 0.25, "c": 0.75}
    (found,) = setters([cycle("abc", {"b": 5}, passed=passed), cycle("abc", {"b": 5}, passed={"b": 0.0})])

    assert found.passed.value == 0.25
    assert setters(problems(5))[0].passed.value == Undefined(Reason.NOTHING_RUN)

    found, other = setters(problems(5), others={"b", "a"})

    assert (found.name, found.problems) == ("a", 1)
    assert (other.name, other.problems, other.scored) == ("b", 0, 0)
    assert other.calibration.value == other.overall.value == Undefined(Reason.NO_VOTES)
    assert other.passed.value == Undefined(Reason.NOTHING_RUN)


def test_a_cycle_and_a_vote_that_cannot_have_been_are_refused():
    for complaint, *given in (
        *(("two contestants", ("a",), "a"), ("two contestants", (), "a"), ("named once", ("a", "b", "a"), "a")),
        *(("setter c is not", "ab", "c"), ("votes once", "ab", "a", (Vote("a", "b", 5), Vote("a", "b", 6)))),
        *(("not contestants: x", "ab", "a", (Vote(*pair, 5),)) for pair in ("ax", "xa")),
        ("not contestants: x", "ab", "a", (), {"x": 1.0}),
        *(("from 0 to 1", "ab", "a", (), {"a": share}) for share in (1.1, math.nan)),
    ):
        with pytest.raises(ValueError, match=complaint):
            Cycle(*given)
    with pytest.raises(ValueError, match="its own solution"):
        Vote("a", "a", 10)
    for vote in (math.nan, math.inf, -math.inf, -0.001, 10.001):
        with pytest.raises(ValueError, match="from 0 to 10"):
            Vote("a", "b", vote)


def test_a_score_is_the_mean_of_the_votes_where_there_is_a_quorum_and_the_overall_the_mean_of_scores():
    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4, ("c", "a"): 0, ("c", "b"): 0})

    assert scores(found) == {"a": 7, "b": 4, "c": 0}
    assert overall(found) == pytest.approx((7 + 4 + 0) / 3)  # of solvers, not of votes: b's one vote counts as much
    assert overall(cycle("abc", {})) is None

    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4})

    assert scores(found, quorum=2) == {"a": 7}
    assert overall(found, quorum=2) == 7
    assert overall(found, quorum=3) is None
    with pytest.raises(ValueError, match="one vote or more"):
        scores(found, quorum=0)


def test_what_one_problem_equal_ones_or_none_with_votes_cannot_tell_is_undefined():
    nothing = Undefined(Reason.NO_VOTES)
    (one,), (equal,) = setters(problems(7.5)), setters(problems(5, 5))
    (partly,), (unscored,) = setters([cycle("abc", {}), *problems(5)]), setters([cycle("abc", {})])
    hard, easy = setters([*problems(2.5, setter="a"), *problems(7.5, setter="b")])

    assert one.calibration == Estimate(0.5, Undefined(Reason.TOO_FEW_UNITS), 1, 1)
    assert equal.calibration == Estimate(1.0, Undefined(Reason.NO_SPREAD), 2, 2), "the next need not be equal"
    assert (partly.problems, partly.scored, partly.calibration.value) == (2, 1, 1)
    assert unscored.calibration == Estimate(nothing, nothing, 0, 0)
    assert hard.calibration.value == easy.calibration.value == 0.5
    assert (hard.overall.value, easy.overall.value) == (2.5, 7.5), "too hard and too easy are told apart"
    levels = {0: 0, 2.5: 0.5, 5: 1, 7.42: 0.516, 7.5: 0.5, 10: 0, -3: 0, 334.7: 0}
    assert {level: calibration(level) for level in levels} == pytest.approx(levels), "best in the middle"
