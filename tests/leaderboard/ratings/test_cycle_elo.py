"""The compatible board: MatrixArena's Elo, in its order, without its errors."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings.cycles import Match, compatible_elo, matches, replay
from tests.leaderboard.ratings.coding_cycles import any_cycle, as_stated, cycle, league

several = st.lists(any_cycle(), max_size=6)


def rounded(ratings):
    return {name: round(rating, 1) for name, rating in ratings.items()}


def test_a_first_match_of_equals_by_hand():
    """Eight of ten against an expected half: 32 · 0.3 = 9.6, and the judge loses what the solver wins."""
    found = matches(cycle("ab", {("a", "b"): 8}), {}, setter_k=0)

    assert found == (
        Match("solver", "a", "b", 0.8, 0.5, pytest.approx(9.6)),
        Match("setter", "a", "b", pytest.approx(0.4), pytest.approx(1 / (1 + 10**-0.048)), 0),
    )


def test_a_whole_cycle_of_two_by_hand():
    """A, who set the problem, gets 8 and B gets 2, so the overall score is 5 and the calibration 1."""
    first = 32 * (0.8 - 0.5)
    second = 32 * (0.2 - 1 / (1 + 10 ** (2 * first / 400)))
    apart = 2 * (first - second)
    third = 16 * (1 - 1 / (1 + 10 ** (-apart / 400)))

    found = compatible_elo([cycle("ab", {"a": 8, "b": 2})])

    assert found.ratings["a"] == pytest.approx(1200 + first - second + third)
    assert found.ratings["b"] == pytest.approx(1200 - first + second - third)
    assert found.snapshots[0].changes == pytest.approx({"a": first - second + third, "b": -first + second - third})
    assert found.snapshots[0].played == {"a": 3, "b": 3}


def test_three_perfect_solutions_are_rated_by_their_place_in_the_list():
    """What is known of the original: 1195.1, 1200.0 and 1204.9."""
    found = compatible_elo([cycle("xyz", {"x": 10, "y": 10, "z": 10})], setter_k=0)

    assert rounded(found.ratings) == {"x": 1195.1, "y": 1200.0, "z": 1204.9}


def test_the_order_decides_where_eight_five_and_two_lead():
    """What is known of the original: A ends at 1225.8, 1226.7 or 1226.6."""
    ends = {
        round(compatible_elo([cycle(order, {"A": 8, "B": 5, "C": 2})], setter_k=0).ratings["A"], 1)
        for order in permutations("ABC")
    }

    assert ends == {1225.8, 1226.6, 1226.7}


def test_a_judge_that_lowballs_others_by_four_points_lifts_itself():
    """What is known of the original: from 1206.6 to 1215.3, for the last of five."""
    pairs = [(solver, judge) for solver in "abcde" for judge in "abcde" if solver != judge]
    honest = cycle("abcde", dict.fromkeys(pairs, 7))
    lowball = cycle("abcde", {(solver, judge): 3 if judge == "e" else 7 for solver, judge in pairs})

    ends = [compatible_elo([one], setter_k=0).ratings["e"] for one in (honest, lowball)]

    assert [round(rating, 1) for rating in ends] == [1206.6, 1215.3]


@settings(max_examples=60)
@given(several)
def test_every_rating_is_what_the_stated_order_gives(cycles):
    assert compatible_elo(cycles).ratings == pytest.approx(as_stated(cycles))


@settings(max_examples=60)
@given(several)
def test_the_sum_of_ratings_is_kept(cycles):
    for snapshot in compatible_elo(cycles).snapshots:
        assert sum(snapshot.ratings.values()) == pytest.approx(1200 * len(snapshot.ratings))
        assert sum(snapshot.changes.values()) == pytest.approx(0, abs=1e-9)


def test_perfect_calibration_gains_and_the_setter_never_meets_itself():
    found = matches(cycle("abc", {"a": 5, "b": 5, "c": 5}, setter="b"), {}, solver_k=0)

    assert [(match.name, match.opponent) for match in found if match.role == "setter"] == [("b", "a"), ("b", "c")]
    assert all(match.change > 0 for match in found if match.role == "setter")


def test_a_judge_whose_vote_failed_plays_no_match_for_it():
    found = matches(cycle("abc", {("a", "b"): 9, ("b", "a"): 4, ("b", "c"): 6}, setter="c"), {})

    solved = [(match.name, match.opponent) for match in found if match.role == "solver"]
    assert solved == [("a", "b"), ("b", "a"), ("b", "c")]
    assert [match.score for match in found][:3] == [0.9, 0.5, 0.5]


def test_who_neither_judged_nor_was_judged_still_meets_the_setter_and_nobody_else():
    found = matches(cycle("abc", {("a", "b"): 9, ("b", "a"): 4}, setter="a"), {})

    assert [(match.role, match.name) for match in found if "c" in (match.name, match.opponent)] == [("setter", "a")]


def test_when_all_judges_fail_nothing_moves():
    found = compatible_elo([cycle("abc", {})])

    assert found.ratings == {"a": 1200, "b": 1200, "c": 1200}
    assert found.snapshots[0].played == {"a": 0, "b": 0, "c": 0}


def test_below_the_quorum_nobody_plays_as_a_solver():
    found = matches(cycle("abc", {("a", "b"): 9, ("a", "c"): 7, ("b", "a"): 1}), {}, quorum=2)

    assert [match.name for match in found if match.role == "solver"] == ["a", "a"]
    assert [match.score for match in found if match.role == "setter"] == [pytest.approx(0.4)] * 2  # overall 8


def test_only_those_who_stood_in_a_cycle_so_far_are_rated():
    found = compatible_elo([cycle("ab", {"a": 8, "b": 2}), cycle("cb", {"c": 8, "b": 2})], start=1500)

    assert [list(snapshot.ratings) for snapshot in found.snapshots] == [["a", "b"], ["a", "b", "c"]]
    assert list(found.snapshots[1].changes) == ["c", "b"]
    assert found.snapshots[1].ratings["a"] == found.snapshots[0].ratings["a"]
    assert sum(found.ratings.values()) == pytest.approx(4500)


def test_no_cycles_are_no_ratings():
    assert compatible_elo([]).ratings == {}
    assert replay([]) == ()


def test_voiding_the_third_of_ten_is_the_replay_of_the_other_nine():
    cycles = league(4, 10)
    kept = [*cycles[:2], *cycles[3:]]
    whole, without = compatible_elo(cycles), compatible_elo(kept)

    assert without.snapshots[:2] == whole.snapshots[:2]
    assert without.ratings == pytest.approx(as_stated(kept))
    assert without.ratings != whole.ratings


def test_resetting_the_last_twice_restores_and_a_new_cycle_goes_on_from_there():
    cycles = league(4, 6)
    whole = compatible_elo(cycles)

    assert compatible_elo(cycles[:-2]).snapshots == whole.snapshots[:-2]
    assert compatible_elo([*cycles[:-2], *cycles[-2:]]) == whole
    assert compatible_elo(cycles) == whole


def test_the_matches_of_a_cycle_lead_from_the_ratings_before_to_those_after():
    cycles = league(4, 5)
    found = compatible_elo(cycles)
    before, after = found.snapshots[3].ratings, dict(found.snapshots[3].ratings)

    for match in matches(cycles[4], before):
        after[match.name] += match.change
        after[match.opponent] -= match.change

    assert after == pytest.approx(dict(found.ratings))


def test_a_replay_says_of_each_cycle_what_pages_show():
    cycles = [cycle("abc", {"a": 9, "b": 6, "c": 6}, setter="c"), cycle("abc", {})]
    first, second = replay(cycles)

    assert (first.scores, first.overall) == ({"a": 9, "b": 6, "c": 6}, 7)
    assert first.calibration == pytest.approx(0.6)
    assert (second.scores, second.overall, second.calibration) == ({}, None, None)
    assert first.compatible == compatible_elo(cycles).snapshots[0]
    assert second.solvers.ratings == first.solvers.ratings
