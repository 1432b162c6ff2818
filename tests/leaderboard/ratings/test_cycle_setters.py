"""What a cycle may hold, the scores of its votes, and how well the setters' problems were calibrated."""

import math

import pytest

from leaderboard.ratings.cycles import Cycle, Vote, calibration, overall, scores
from leaderboard.ratings.judging import setters
from leaderboard.ratings.statistics import Estimate
from leaderboard.ratings.values import Reason, Undefined
from tests.cases import each_case
from tests.leaderboard.ratings.coding_cycles import cycle


def problems(*levels, setter="a"):
    return [cycle("abc", {"a": level, "b": level, "c": level}, setter=setter) for level in levels]


def test_the_mean_of_three_problems_with_students_interval_by_hand():
    """5, 7 and 6 are calibrations of 1, 0.6 and 0.8: mean 0.8, s 0.2, t 4.303, so 0.8 ± 0.497, cut at 1."""
    (found,) = setters(problems(5, 7, 6))

    assert (found.name, found.problems, found.scored) == ("a", 3, 3)
    assert found.calibration.value == pytest.approx(0.8)
    assert found.calibration.interval == (pytest.approx(0.8 - 4.302653 * 0.2 / 3**0.5), 1.0)
    assert found.overall.value == pytest.approx(6)
    assert found.overall.interval == pytest.approx((6 - 4.302653 / 3**0.5, 6 + 4.302653 / 3**0.5))
    assert (found.overall.units, found.overall.clusters) == (3, 3)


def test_a_setter_that_votes_its_problem_into_the_middle_is_seen_through():
    """Others give 10 to everybody; the setter gives 0, which draws two of the means down to 5."""
    pairs = [(solver, judge) for solver in "abc" for judge in "abc" if solver != judge]
    (found,) = setters([cycle("abc", {(s, j): 0 if j == "a" else 10 for s, j in pairs})])

    assert found.calibration.value == pytest.approx(2 / 3)
    assert found.by_others.value == 0


def test_the_sandbox_says_how_hard_it_was_for_the_others():
    passed = {"a": 1.0, "b": 0.25, "c": 0.75}
    (found,) = setters([cycle("abc", {"b": 5}, passed=passed), cycle("abc", {"b": 5}, passed={"b": 0.0})])

    assert found.passed.value == 0.25
    assert setters(problems(5))[0].passed.value == Undefined(Reason.NOTHING_RUN)


def test_who_never_set_what_could_be_played_is_there_without_figures():
    found, other = setters(problems(5), others={"b", "a"})

    assert (found.name, found.problems) == ("a", 1)
    assert (other.name, other.problems, other.scored) == ("b", 0, 0)
    assert other.calibration.value == other.overall.value == Undefined(Reason.NO_VOTES)
    assert other.passed.value == Undefined(Reason.NOTHING_RUN)


@each_case(
    ("found", "complaint"),
    [
        (lambda: Cycle(("a",), "a"), "two contestants"),
        (lambda: Cycle((), "a"), "two contestants"),
        (lambda: Cycle(("a", "b", "a"), "a"), "named once"),
        (lambda: Cycle(("a", "b"), "c"), "setter c is not"),
        (lambda: Cycle(("a", "b"), "a", (Vote("a", "x", 5),)), "not contestants: x"),
        (lambda: Cycle(("a", "b"), "a", (Vote("x", "a", 5),)), "not contestants: x"),
        (lambda: Cycle(("a", "b"), "a", passed={"x": 1.0}), "not contestants: x"),
        (lambda: Cycle(("a", "b"), "a", (Vote("a", "b", 5), Vote("a", "b", 6))), "votes once"),
        (lambda: Cycle(("a", "b"), "a", passed={"a": 1.1}), "from 0 to 1"),
        (lambda: Cycle(("a", "b"), "a", passed={"a": math.nan}), "from 0 to 1"),
        (lambda: Vote("a", "a", 10), "its own solution"),
        *((lambda vote=vote: Vote("a", "b", vote), "from 0 to 10") for vote in (math.nan, math.inf, -math.inf)),
        *((lambda vote=vote: Vote("a", "b", vote), "from 0 to 10") for vote in (-0.001, 10.001)),
    ],
)
def test_a_cycle_and_a_vote_that_cannot_have_been_are_refused(found, complaint):
    with pytest.raises(ValueError, match=complaint):
        found()


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
