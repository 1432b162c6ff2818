"""Mean rank, votes, Borda and the table of pairs; what rankings owe to own answers and shown positions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings.agreement import position_effect, self_preference
from leaderboard.ratings.orders import Ballots, borda, copeland, mean_rank, pairwise, positions, votes
from tests.cases import each_case

NAMES = ("a", "b", "c", "d", "e")


def strict(*orders, names=NAMES):
    return Ballots(tuple(tuple((c,) for c in order) for order in orders), names)


@st.composite
def any_ballots(draw):
    """Ballots with ties, some partial, with or without a record of what was offered."""
    count = draw(st.integers(2, 6))
    orders, offered = [], []
    for _ in range(draw(st.integers(1, 5))):
        named = draw(st.lists(st.integers(0, count - 1), unique=True))
        cuts = draw(st.lists(st.booleans(), min_size=len(named), max_size=len(named)))
        groups = []
        for candidate, begins in zip(named, cuts, strict=True):
            if begins or not groups:
                groups.append([])
            groups[-1].append(candidate)
        orders.append(tuple(tuple(group) for group in groups))
        offered.append(frozenset(named) | draw(st.frozensets(st.integers(0, count - 1))))
    return Ballots(tuple(orders), tuple("abcdef"[:count]), tuple(offered) if draw(st.booleans()) else ())


def test_tied_candidates_share_the_mean_of_their_positions():
    ballots = Ballots((((0,), (1, 2), (3,)),), NAMES[:4])

    assert positions(ballots).tolist() == [[1, 2.5, 2.5, 4]]


def test_candidates_that_were_not_before_the_reviewer_get_no_position():
    assert mean_rank(strict([2, 0])).tolist()[:3] == pytest.approx([2, math.nan, 1], nan_ok=True)


def test_candidates_that_were_offered_and_passed_over_share_the_unused_positions():
    ballots = Ballots((((3,), (1,)),), NAMES, (frozenset(range(5)),))
    three = Ballots((((2,),), ((0,), (1,), (2,))), NAMES[:3], (frozenset({0, 1, 2}),) * 2)

    assert (ballots.rule, replace(ballots, offered=()).rule) == ("mean_of_unused", "leave_out")
    assert mean_rank(ballots).tolist() == [4, 2, 4, 1, 4]
    assert votes(ballots).tolist() == [0, 1, 0, 1, 0]
    assert mean_rank(three).tolist() == [1.75, 2.25, 2.0]


def test_an_abstention_counts_nowhere_and_a_ballot_with_one_candidate_compares_nothing():
    abstention = Ballots(((), ((0,), (1,))), NAMES[:2], (frozenset({0, 1}),) * 2)
    ballots = strict([2], [2, 0])

    assert mean_rank(abstention).tolist() == [1, 2]
    assert pairwise(abstention).tolist() == [[0, 1], [0, 0]]
    assert mean_rank(ballots)[2] == 1
    assert np.isnan(mean_rank(strict([2]))).all()
    assert votes(ballots)[2] == 2


def test_positions_move_up_when_the_own_answer_is_left_out():
    """The worked example of four answers whose reviewer wrote the second: the third falls to 2/3, not to 1/3."""
    ballots = strict([1, 0, 2, 3], names=NAMES[:4]).without_own([1])
    offered = Ballots((((1,), (0,)),), NAMES[:3], (frozenset({0, 1, 2}),)).without_own([1])

    assert borda(ballots).tolist() == pytest.approx([1, math.nan, 1 / 2, 0], nan_ok=True)
    assert mean_rank(ballots).tolist() == pytest.approx([1, math.nan, 2, 3], nan_ok=True)
    assert offered.offered == (frozenset({0, 2}),)
    assert mean_rank(offered).tolist() == pytest.approx([1, math.nan, 2], nan_ok=True)


@settings(max_examples=50, deadline=None)
@given(any_ballots())
def test_positions_pairs_and_borda_add_up(ballots):
    table, known, scores = pairwise(ballots), ~np.isnan(positions(ballots)), borda(ballots)
    compared = (known[:, :, None] & known[:, None, :]).sum(axis=0) * (1 - np.eye(len(ballots.candidates)))

    for row in positions(ballots):
        placed = row[~np.isnan(row)]
        assert placed.sum() == len(placed) * (len(placed) + 1) / 2
    assert (table + table.T == compared).all()
    assert ((scores >= 0) & (scores <= 1) | np.isnan(scores)).all()
    assert (np.isnan(scores) == np.isnan(mean_rank(ballots))).all()


def test_borda_weighs_short_and_long_ballots_alike():
    assert borda(strict([0, 1], [1, 2, 3, 0], names=NAMES[:4])).tolist() == pytest.approx([1 / 2, 1 / 2, 2 / 3, 1 / 3])


def test_a_tie_is_half_a_preference_each_way():
    ballots = Ballots((((0, 1), (2,)), ((0,), (1,))), NAMES[:3])

    assert pairwise(ballots).tolist() == [[0, 1.5, 1], [0.5, 0, 1], [0, 0, 0]]


def test_copeland_is_majorities_won_less_majorities_lost():
    ballots = strict([0, 1, 2, 3], [0, 2, 1, 3], [3, 0, 1, 2], names=NAMES)

    assert copeland(ballots).tolist() == pytest.approx([3, 1, -1, -3, math.nan], nan_ok=True)


@each_case(
    ("orders", "offered"),
    [
        ((((0,), (0,)),), ()),
        ((((9,),),), ()),
        ((((-1,),),), ()),
        ((((0,), ()),), ()),
        ((((0,),),), (frozenset({1}),)),
        ((((0,),),), (frozenset({0, 7}),)),
        ((((0,),),), (frozenset({0}),) * 2),
    ],
    ids=["twice", "unknown", "negative", "empty group", "not offered", "unknown offer", "offers for two"],
)
def test_a_ballot_that_makes_no_sense_is_refused(orders, offered):
    with pytest.raises(ValueError, match=r"ballot|offered"):
        Ballots(orders, NAMES, offered)


def test_self_preference_is_the_own_position_less_the_peers_mean():
    found = self_preference(strict([0, 1, 2], [1, 2, 0], [1, 0, 2], names=NAMES[:3]), [0, 1, 2])
    alone = self_preference(strict([0, 1], names=NAMES[:3]), [0])

    assert found.own.tolist() == [1, 1, 3]
    assert found.peers.tolist() == [2.5, 1.5, 2.5]
    assert found.values.tolist() == [-1.5, -0.5, 0.5]
    assert found.peers_n.tolist() == [2, 2, 2]
    assert math.isnan(alone.values[0]), "only its author ranked it"
    assert alone.own[0] == 1


def test_a_candidate_whose_author_did_not_rank_it_has_no_self_preference():
    found = self_preference(strict([1, 2], [1, 2, 0], names=NAMES[:3]), [0, None])

    assert found.values.tolist() == pytest.approx([math.nan] * 3, nan_ok=True)
    assert found.own_n.tolist() == [0, 0, 0]
    assert found.peers.tolist() == [3, 1, 2]


def test_the_effect_of_a_place_is_the_mean_position_given_there():
    ballots = strict([0, 1, 2], [1, 2, 0], names=NAMES[:3])
    found = position_effect(ballots, [(0, 1, 2), (1, 0, 2)])

    assert found.means.tolist() == [1, 2.5, 2.5]
    assert found.n.tolist() == [2, 2, 2]


def test_places_that_were_not_ranked_are_counted_out():
    found = position_effect(Ballots((((0,), (1,)), ()), NAMES[:3]), [(2, 0, 1), (0, 1)])

    assert found.means.tolist() == pytest.approx([math.nan, 1, 2], nan_ok=True)
    assert found.n.tolist() == [0, 1, 1]


@each_case(
    "found",
    [
        lambda: position_effect(strict([0, 1], names=NAMES[:3]), []),
        lambda: position_effect(strict([0, 1], names=NAMES[:3]), [(0, 0)]),
        lambda: self_preference(strict([0, 1], names=NAMES[:3]), []),
    ],
)
def test_sequences_that_do_not_fit_the_ballots_are_refused(found):
    with pytest.raises(ValueError, match=r"sequences|twice|authors"):
        found()
