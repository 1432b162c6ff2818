"""Elo battle by battle, and in batches that know no sequence."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings import Battles, batch_elo, sequential_elo
from tests.leaderboard.ratings.leagues import league, rows


def test_one_battle_of_equals_moves_half_of_k():
    assert sequential_elo(rows(("a", "b", 1)), k=32).values.tolist() == [1016, 984]


def test_the_expected_score_of_two_hundred_points_is_elos():
    """Elo's table: 200 points are an expected score of .76; the favourite gains .24 · k."""
    found = sequential_elo(rows(("a", "b", 1)), k=10, previous={"a": 1200, "b": 1000})

    assert found.values[0] == pytest.approx(1200 + 10 * (1 - 1 / (1 + 10**-0.5)))
    assert round(found.values[0] - 1200, 1) == 2.4


def test_the_sequence_matters_battle_by_battle():
    forth = rows(("a", "b", 0.5), ("a", "c", 0.5), ("b", "c", 1))
    back = Battles(forth.left[::-1], forth.right[::-1], forth.score[::-1], forth.contestants)

    assert sequential_elo(forth).values.tolist() != sequential_elo(back).values.tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(12)), st.sampled_from(["each", "mean"]))
def test_the_sequence_does_not_matter_in_a_batch(seed, order, weight):
    battles, _truth = league(4, 12, seed, ties=0.3)
    moved = Battles(battles.left[order], battles.right[order], battles.score[order], battles.contestants)

    assert np.array_equal(
        batch_elo(battles, weight=weight).values, batch_elo(moved, weight=weight).values, equal_nan=True
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_sum_of_ratings_is_kept(seed):
    battles, _truth = league(5, 60, seed)

    for found in (sequential_elo(battles), batch_elo(battles)):
        assert found.values.sum() == pytest.approx(5000)


def test_the_mean_of_many_opponents_moves_no_more_than_one():
    many = batch_elo(rows(*[("a", other, 1) for other in "bcdef"]), weight="mean")

    assert many.values.tolist() == [1016, *[984] * 5]
    assert many.battles.tolist() == [5, 1, 1, 1, 1, 1]


def test_a_newcomer_without_a_battle_is_unrated_and_a_known_one_keeps_its_rating():
    battles = rows(("a", "b", 1), contestants=["a", "b", "c", "d"])

    for found in (sequential_elo(battles, previous={"d": 1111}), batch_elo(battles, previous={"d": 1111})):
        assert found.values[2:].tolist() == pytest.approx([math.nan, 1111], nan_ok=True)
