"""What a cycle may hold, and the scores that come of its votes."""

import math

import pytest

from leaderboard.ratings.cycles import Cycle, Vote, calibration, overall, scores
from tests.cases import each_case
from tests.leaderboard.ratings.coding_cycles import cycle


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
    ],
)
def test_a_cycle_that_cannot_have_been_is_refused(found, complaint):
    with pytest.raises(ValueError, match=complaint):
        found()


def test_a_score_is_the_mean_of_the_votes_and_the_overall_the_mean_of_scores():
    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4, ("c", "a"): 0, ("c", "b"): 0})

    assert scores(found) == {"a": 7, "b": 4, "c": 0}
    assert overall(found) == pytest.approx((7 + 4 + 0) / 3)  # of solvers, not of votes: b's one vote counts as much
    assert overall(cycle("abc", {})) is None


def test_below_the_quorum_a_solver_is_unrated():
    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4})

    assert scores(found, quorum=2) == {"a": 7}
    assert overall(found, quorum=2) == 7
    assert overall(found, quorum=3) is None
    with pytest.raises(ValueError, match="one vote or more"):
        scores(found, quorum=0)


@each_case(("level", "expected"), [(0, 0), (2.5, 0.5), (5, 1), (7.42, 0.516), (7.5, 0.5), (10, 0), (-3, 0), (334.7, 0)])
def test_calibration_is_best_in_the_middle(level, expected):
    assert calibration(level) == pytest.approx(expected)


@each_case("given", [math.nan, math.inf, -math.inf, -0.001, 10.001])
def test_a_vote_outside_nought_to_ten_or_for_ones_own_solution_is_refused(given):
    with pytest.raises(ValueError, match="from 0 to 10"):
        Vote("a", "b", given)
    with pytest.raises(ValueError, match="its own solution"):
        Vote("a", "a", 10)
