"""The compatible board: MatrixArena's Elo, in its order, without its errors."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings.cycles import compatible_elo, matches, replay
from tests.leaderboard.ratings.coding_cycles import any_cycle, as_stated, cycle, league


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

    assert {name: round(rating, 1) for name, rating in found.ratings.items()} == {"x": 1195.1, "y": 1200.0, "z": 1204.9}


@settings(max_examples=60)
@given(st.lists(any_cycle(), max_size=6))
def test_every_rating_is_what_the_stated_order_gives(cycles):
    """Also where judges failed, all of them or some; the sum of ratings is kept."""
    found = compatible_elo(cycles)

    assert found.ratings == pytest.approx(as_stated(cycles))
    for snapshot in found.snapshots:
        assert sum(snapshot.ratings.values()) == pytest.approx(1200 * len(snapshot.ratings))
        assert sum(snapshot.changes.values()) == pytest.approx(0, abs=1e-9)


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
