"""Orders made of ballots: positions, pairs, Borda, Schulze, Kemeny, and all methods side by side."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings.agreement import position_effect, self_preference
from leaderboard.ratings.ballots import Ballots, borda, copeland, mean_rank, pairwise, positions, votes
from leaderboard.ratings.orders import Kemeny, Method, Order, bradley_terry, consensus, kemeny, schulze
from leaderboard.ratings.values import Reason, Undefined

NAMES = ("a", "b", "c", "d", "e")
# Schulze (2011), example 1; also en.wikipedia.org/wiki/Schulze_method
FORTY_FIVE = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}


def strict(*orders, names=NAMES):
    return Ballots(tuple(tuple((c,) for c in order) for order in orders), names)


def test_tied_candidates_and_those_passed_over_share_positions_and_ties_half_a_preference():
    ballots = Ballots((((3,), (1,)),), NAMES, (frozenset(range(5)),))
    three = Ballots((((2,),), ((0,), (1,), (2,))), NAMES[:3], (frozenset({0, 1, 2}),) * 2)

    assert (ballots.rule, replace(ballots, offered=()).rule) == ("mean_of_unused", "leave_out")
    assert mean_rank(ballots).tolist() == [4, 2, 4, 1, 4]
    assert votes(ballots).tolist() == [0, 1, 0, 1, 0]
    assert mean_rank(three).tolist() == [1.75, 2.25, 2.0]

    tied = Ballots((((0, 1), (2,)), ((0,), (1,))), NAMES[:3])
    assert positions(tied).tolist() == [[1.5, 1.5, 3], pytest.approx([1, 2, math.nan], nan_ok=True)]
    assert pairwise(tied).tolist() == [[0, 1.5, 1], [0.5, 0, 1], [0, 0, 0]]


def test_an_abstention_counts_nowhere_and_positions_move_up_when_the_own_answer_is_left_out():
    abstention = Ballots(((), ((0,), (1,))), NAMES[:2], (frozenset({0, 1}),) * 2)
    ballots = strict([2], [2, 0])

    assert mean_rank(abstention).tolist() == [1, 2]
    assert pairwise(abstention).tolist() == [[0, 1], [0, 0]]
    assert mean_rank(ballots)[2] == 1
    assert np.isnan(mean_rank(strict([2]))).all()
    assert votes(ballots)[2] == 2

    ballots = strict([1, 0, 2, 3], names=NAMES[:4]).without_own([1])
    offered = Ballots((((1,), (0,)),), NAMES[:3], (frozenset({0, 1, 2}),)).without_own([1])

    assert borda(ballots).tolist() == pytest.approx([1, math.nan, 1 / 2, 0], nan_ok=True)
    assert mean_rank(ballots).tolist() == pytest.approx([1, math.nan, 2, 3], nan_ok=True)
    assert offered.offered == (frozenset({0, 2}),)
    assert mean_rank(offered).tolist() == pytest.approx([1, math.nan, 2], nan_ok=True)


def test_borda_weighs_short_and_long_ballots_alike_and_copeland_is_majorities_won_less_lost():
    assert borda(strict([0, 1], [1, 2, 3, 0], names=NAMES[:4])).tolist() == pytest.approx([1 / 2, 1 / 2, 2 / 3, 1 / 3])

    ballots = strict([0, 1, 2, 3], [0, 2, 1, 3], [3, 0, 1, 2], names=NAMES)

    assert copeland(ballots).tolist() == pytest.approx([3, 1, -1, -3, math.nan], nan_ok=True)


def test_a_ballot_that_makes_no_sense_and_sequences_that_do_not_fit_are_refused():
    one = strict([0, 1], names=NAMES[:3])
    for made, *told in (
        *((Ballots, (ranked,), NAMES) for ranked in (((0,), (0,)), ((9,),), ((-1,),), ((0,), ()))),
        *((Ballots, (((0,),),), NAMES, offered) for offered in ((frozenset({1}),), (frozenset({0, 7}),))),
        (Ballots, (((0,),),), NAMES, (frozenset({0}),) * 2),
        *((position_effect, one, []), (position_effect, one, [(0, 0)]), (self_preference, one, [])),
    ):
        with pytest.raises(ValueError, match=r"ballot|offered|sequences|twice|authors"):
            made(*told)


def test_self_preference_is_against_the_peers_mean_and_the_effect_of_a_place_the_mean_given_there():
    found = self_preference(strict([0, 1, 2], [1, 2, 0], [1, 0, 2], names=NAMES[:3]), [0, 1, 2])
    unranked = self_preference(strict([1, 2], [1, 2, 0], names=NAMES[:3]), [0, None])
    alone = self_preference(strict([0, 1], names=NAMES[:3]), [0])

    assert found.own.tolist() == [1, 1, 3]
    assert found.peers.tolist() == [2.5, 1.5, 2.5]
    assert found.values.tolist() == [-1.5, -0.5, 0.5]
    assert found.peers_n.tolist() == [2, 2, 2]
    assert np.isnan(unranked.values).all(), "its author did not rank it"
    assert (unranked.own_n.tolist(), unranked.peers.tolist()) == ([0, 0, 0], [3, 1, 2])
    assert math.isnan(alone.values[0]), "only its author ranked it"
    assert alone.own[0] == 1

    found = position_effect(strict([0, 1, 2], [1, 2, 0], names=NAMES[:3]), [(0, 1, 2), (1, 0, 2)])
    partly = position_effect(Ballots((((0,), (1,)), ()), NAMES[:3]), [(2, 0, 1), (0, 1)])

    assert (found.means.tolist(), found.n.tolist()) == ([1, 2.5, 2.5], [2, 2, 2])
    assert partly.means.tolist() == pytest.approx([math.nan, 1, 2], nan_ok=True)
    assert partly.n.tolist() == [0, 1, 1]


def electorate(counts):
    names = tuple(sorted(set("".join(counts))))
    ballot = {order: tuple((names.index(c),) for c in order) for order in counts}
    return Ballots(tuple(ballot[order] for order, count in counts.items() for _ in range(count)), names)


def test_schulzes_forty_five_voters_have_his_paths_and_margins_may_give_another_order():
    """Also of a circle a > b > c > a: the weakest majority by votes is c's (5 to 0), by margin a's (7 to 6)."""
    found = schulze(electorate(FORTY_FIVE))

    assert found.strengths.tolist() == [
        [0, 28, 28, 30, 24],
        [25, 0, 28, 33, 24],
        [25, 29, 0, 29, 24],
        [25, 28, 28, 0, 24],
        [25, 28, 28, 31, 0],
    ]
    assert found.order.groups == ((4,), (0,), (2,), (1,), (3,))
    assert found.measure == "winning_votes"

    halves = [((0,), (1,))] * 7 + [((1,), (0,))] * 6 + [((1,), (2,))] * 6 + [((2,), (0,))] * 5
    ballots = Ballots(tuple(halves), ("a", "b", "c"))

    assert schulze(ballots).order.winners == (0,)
    assert schulze(ballots, "margins").order.winners == (1,)


def test_kemeny_finds_the_capital_of_tennessee_and_says_how_many_orders_are_equally_good():
    """The example of en.wikipedia.org/wiki/Kemeny_method: Nashville, Chattanooga, Knoxville, Memphis; score 393."""
    found = kemeny(electorate({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}))

    assert [("C", "K", "M", "N")[c] for c in found.sequence] == ["N", "C", "K", "M"]
    assert found.is_unique
    assert 6 * 100 - found.distance == 393

    circle = strict([0, 1, 2], [1, 2, 0], [2, 0, 1], names=NAMES[:3])
    found, partly = kemeny(circle), kemeny(strict([0, 1, 2, 3], [0, 2, 1, 3], names=NAMES[:4]))

    assert (found.optima, found.order.groups) == (3, ((0, 1, 2),))
    assert found.sequence in {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert schulze(circle).order.groups == ((0, 1, 2),)
    assert (partly.optima, partly.order.groups) == (2, ((0,), (1, 2), (3,)))
    assert isinstance(kemeny(strict(range(8), names=tuple("abcdefghi"))), Kemeny)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.permutations(range(5)), min_size=1, max_size=6))
def test_kemeny_is_the_best_of_all_permutations(orders):
    ballots = strict(*orders)
    table = pairwise(ballots)
    costs = {
        order: sum(table[low, high] for place, high in enumerate(order) for low in order[place + 1 :])
        for order in permutations(range(5))
    }
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    found = kemeny(ballots)

    assert (found.distance, found.optima) == (min(costs.values()), len(best))
    assert found.sequence in best
    if len(best) == 1:
        assert found.order.groups == tuple((c,) for c in best[0])


def test_one_opinion_makes_all_methods_agree_and_methods_that_disagree_stand_in_different_camps():
    found = consensus(strict([2, 0, 1], [2, 0, 1], names=("a", "b", "c")))

    assert found.agree_on_winner
    assert found.agree_on_order
    assert found.on_order[0].groups == ((2,), (0,), (1,))
    assert set(found.on_order[0].methods) == set(Method)
    partly = consensus(strict(*[[3, 0, 1, 2]] * 3, *[[3, 1, 2, 0]] * 2, names=tuple("abcd")))
    assert (partly.agree_on_winner, partly.agree_on_order) == (True, False)

    found = consensus(strict([0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 2, 0], names=("a", "b", "c")))
    camps = {camp.groups: set(camp.methods) for camp in found.on_winner}

    assert not found.agree_on_winner
    assert camps[((0,),)] == {Method.COPELAND, Method.SCHULZE, Method.KEMENY}
    assert camps[((1,),)] == {Method.MEAN_RANK, Method.BORDA, Method.BRADLEY_TERRY}


def test_what_no_ballot_compares_is_told_apart_and_strengths_place_the_winless_last():
    nothing = consensus(Ballots((((0,),), ()), ("a", "b")))
    nine = consensus(strict(range(9), names=tuple("abcdefghi")))

    assert set(nothing.orders.values()) == {Undefined(Reason.NO_COMPARISONS)}
    assert (nothing.agree_on_winner, nothing.components) == (False, ())
    assert consensus(strict([0, 1], [3, 2], names=tuple("abcd"))).components == ((0, 1), (2, 3))
    assert nine.orders[Method.KEMENY] == Undefined(Reason.TOO_MANY_CANDIDATES)
    assert nine.agree_on_order

    order = bradley_terry(strict([0, 1, 2, 3], [0, 2, 1, 3], names=tuple("abcd")))

    assert order == Order(((0,), (1, 2), (3,)))
