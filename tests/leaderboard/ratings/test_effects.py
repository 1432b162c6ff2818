"""Own answers and shown positions: what rankings owe to them."""

import math

import pytest

from leaderboard.ratings.agreement import position_effect, self_preference
from leaderboard.ratings.orders import Ballots
from tests.leaderboard.ratings.test_positions_and_pairs import strict

NAMES = ("a", "b", "c")


def test_self_preference_is_the_own_position_less_the_peers_mean():
    found = self_preference(strict([0, 1, 2], [1, 2, 0], [1, 0, 2], names=NAMES), [0, 1, 2])

    assert found.own.tolist() == [1, 1, 3]
    assert found.peers.tolist() == [2.5, 1.5, 2.5]
    assert found.values.tolist() == [-1.5, -0.5, 0.5]
    assert found.peers_n.tolist() == [2, 2, 2]


def test_a_candidate_whose_author_did_not_rank_it_has_no_self_preference():
    found = self_preference(strict([1, 2], [1, 2, 0], names=NAMES), [0, None])

    assert found.values.tolist() == pytest.approx([math.nan] * 3, nan_ok=True)
    assert found.own_n.tolist() == [0, 0, 0]
    assert found.peers.tolist() == [3, 1, 2]


def test_a_candidate_that_only_its_author_ranked_has_no_self_preference():
    found = self_preference(strict([0, 1], names=NAMES), [0])

    assert math.isnan(found.values[0])
    assert found.own[0] == 1


def test_the_effect_of_a_place_is_the_mean_position_given_there():
    ballots = strict([0, 1, 2], [1, 2, 0], names=NAMES)
    found = position_effect(ballots, [(0, 1, 2), (1, 0, 2)])

    assert found.means.tolist() == [1, 2.5, 2.5]
    assert found.n.tolist() == [2, 2, 2]


def test_places_that_were_not_ranked_are_counted_out():
    found = position_effect(Ballots((((0,), (1,)), ()), NAMES), [(2, 0, 1), (0, 1)])

    assert found.means.tolist() == pytest.approx([math.nan, 1, 2], nan_ok=True)
    assert found.n.tolist() == [0, 1, 1]


def test_sequences_that_do_not_fit_the_ballots_are_refused():
    with pytest.raises(ValueError, match="sequences"):
        position_effect(strict([0, 1], names=NAMES), [])
    with pytest.raises(ValueError, match="twice"):
        position_effect(strict([0, 1], names=NAMES), [(0, 0)])
    with pytest.raises(ValueError, match="authors"):
        self_preference(strict([0, 1], names=NAMES), [])
