"""Ranks with what is known of them."""

import math

import numpy as np
import pytest

from leaderboard.ratings import bootstrap, ranks, sandwich
from tests.leaderboard.ratings.leagues import league, rows


def test_a_rank_interval_holds_the_rank_and_narrows_with_battles():
    few, many = (ranks(sandwich(league(8, size, 3)[0])) for size in (200, 40_000))

    for found in (few, many):
        assert ((found.best <= found.rank) & (found.rank <= found.worst)).all()
    assert (few.worst - few.best).sum() > (many.worst - many.best).sum()


def test_the_chances_of_being_first_sum_to_one_and_follow_the_ratings():
    battles, _truth = league(6, 300, 1)
    found = ranks(sandwich(battles))

    assert found.first.sum() == pytest.approx(1)
    assert np.argmax(found.first) == np.argmin(found.rank)


def test_contestants_who_cannot_be_told_apart_are_one_group():
    even = sandwich(rows(*[("a", "b", score) for score in (1, 0)] * 20, *[("a", "c", s) for s in [1] * 39 + [0]]))
    found = ranks(even)

    assert found.group.tolist() == [1, 1, 2]
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert found.rank.tolist() == [1, 1, 3]


def test_each_component_has_ranks_of_its_own():
    found = ranks(sandwich(rows(("a", "b", 1), ("a", "b", 0), ("c", "d", 1), ("c", "d", 0))))

    assert found.rank.tolist() == [1, 1, 1, 1]
    assert found.first.tolist() == pytest.approx([0.5] * 4, abs=0.02)


def test_who_has_no_rating_has_no_rank():
    found = ranks(sandwich(rows(("a", "b", 1), ("a", "b", 0), ("c", "a", 0))))

    assert found.rank.tolist() == pytest.approx([1, 1, math.nan], nan_ok=True)
    assert math.isnan(found.first[2])


def test_ranks_can_be_made_of_a_bootstrap():
    battles, _truth = league(5, 2000, 1)
    by_bootstrap, by_sandwich = ranks(bootstrap(battles)), ranks(sandwich(battles))

    assert by_bootstrap.rank.tolist() == by_sandwich.rank.tolist()
    assert by_bootstrap.first == pytest.approx(by_sandwich.first, abs=0.05)


def test_who_never_lost_is_counted_above_and_leaves_nobody_surely_the_best():
    """c won its only battle, and stands above both: neither of them is better than second."""
    even = [("a", "b", 1), ("a", "b", 0)] * 20
    found = ranks(sandwich(rows(*even, ("c", "a", 1))))

    assert found.rank.tolist() == pytest.approx([2, 2, math.nan], nan_ok=True)
    assert (found.best[:2].tolist(), found.worst[:2].tolist()) == ([2, 2], [3, 3])
    assert np.isnan(found.first).all()


def test_a_group_that_never_lost_towards_the_rated_is_above_them():
    rated = [(one, other, score) for one, other in ("ab", "bc", "ca") for score in (1, 0)]
    found = ranks(sandwich(rows(*rated, ("x", "y", 1), ("x", "y", 0), ("x", "a", 1))))

    assert found.rank.tolist() == pytest.approx([3, 3, 3, math.nan, math.nan], nan_ok=True)
    assert np.isnan(found.first).all()


def test_who_won_nothing_but_against_the_winless_is_above_nobody_else():
    """c only beat d, whom a beat too: no chain of wins leads from c to a or b."""
    even = [("a", "b", 1), ("a", "b", 0)] * 20
    found = ranks(sandwich(rows(*even, ("c", "d", 1), ("a", "d", 1))))

    assert found.rank[:2].tolist() == [1, 1]
    assert (found.best[:2].tolist(), found.worst[:2].tolist()) == ([1, 1], [2, 2])
    assert found.first[:2].sum() == pytest.approx(1)


def test_whoever_may_be_above_by_chance_takes_nobody_the_first_place():
    even = [("a", "b", 1), ("a", "b", 0)] * 20
    found = ranks(sandwich(rows(*even, ("c", "a", 1))), is_known=[True, True, False])

    assert (found.best[:2].tolist(), found.rank[:2].tolist(), found.worst[:2].tolist()) == ([1, 1], [2, 2], [3, 3])
    assert found.first[:2].sum() == pytest.approx(1)
