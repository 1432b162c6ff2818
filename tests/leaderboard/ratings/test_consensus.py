"""All methods side by side: who wins, who agrees, and what is said where there is nothing to say."""

from hypothesis import given, settings

from leaderboard.ratings.orders import Ballots, Method, Order, Reason, Undefined, bradley_terry, consensus
from tests.cases import each_case
from tests.leaderboard.ratings.test_positions_and_pairs import any_ballots, strict


def test_one_opinion_makes_all_methods_agree():
    found = consensus(strict([2, 0, 1], [2, 0, 1], names=("a", "b", "c")))

    assert found.agree_on_winner
    assert found.agree_on_order
    assert found.on_order[0].groups == ((2,), (0,), (1,))
    assert set(found.on_order[0].methods) == set(Method)
    partly = consensus(
        strict([3, 0, 1, 2], [3, 0, 1, 2], [3, 0, 1, 2], [3, 1, 2, 0], [3, 1, 2, 0], names=tuple("abcd"))
    )
    assert (partly.agree_on_winner, partly.agree_on_order) == (True, False)


def test_what_no_ballot_compares_is_told_apart():
    nothing = consensus(Ballots((((0,),), ()), ("a", "b")))
    nine = consensus(strict(range(9), names=tuple("abcdefghi")))

    assert set(nothing.orders.values()) == {Undefined(Reason.NO_COMPARISONS)}
    assert (nothing.agree_on_winner, nothing.components) == (False, ())
    assert consensus(strict([0, 1], [3, 2], names=tuple("abcd"))).components == ((0, 1), (2, 3))
    assert nine.orders[Method.KEMENY] == Undefined(Reason.TOO_MANY_CANDIDATES)
    assert nine.agree_on_order


@settings(max_examples=40, deadline=None)
@given(any_ballots())
def test_every_compared_candidate_has_one_place_whatever_the_sequence_of_ballots(ballots):
    found = consensus(ballots)
    compared = sorted(candidate for part in found.components for candidate in part)

    for order in found.orders.values():
        if isinstance(order, Order):
            assert sorted(c for group in order.groups for c in group) == compared
        else:
            assert compared == []
    assert consensus(Ballots(ballots.orders[::-1], ballots.candidates, ballots.offered[::-1])) == found


def test_methods_that_disagree_stand_in_different_camps():
    """Borda's own point against majorities: three put a before b before c, two put b before c before a."""
    found = consensus(strict([0, 1, 2], [0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 2, 0], names=("a", "b", "c")))
    camps = {camp.groups: set(camp.methods) for camp in found.on_winner}

    assert not found.agree_on_winner
    assert camps[((0,),)] == {Method.COPELAND, Method.SCHULZE, Method.KEMENY}
    assert camps[((1,),)] == {Method.MEAN_RANK, Method.BORDA, Method.BRADLEY_TERRY}


def test_a_circle_of_opinions_makes_nobody_the_winner():
    found = consensus(strict([0, 1, 2], [1, 2, 0], [2, 0, 1], names=("a", "b", "c")))

    assert all(order.groups == ((0, 1, 2),) for order in found.orders.values())


def test_strengths_place_the_undefeated_first_and_the_winless_last():
    order = bradley_terry(strict([0, 1, 2, 3], [0, 2, 1, 3], names=tuple("abcd")))

    assert order == Order(((0,), (1, 2), (3,)))


@each_case("method", Method)
def test_reversing_every_ballot_reverses_a_strict_order(method):
    orders = [[0, 1, 2, 3], [0, 2, 1, 3], [1, 0, 2, 3]]
    forth = consensus(strict(*orders, names=tuple("abcd"))).orders[method]
    back = consensus(strict(*[order[::-1] for order in orders], names=tuple("abcd"))).orders[method]

    assert back.groups == forth.groups[::-1]
