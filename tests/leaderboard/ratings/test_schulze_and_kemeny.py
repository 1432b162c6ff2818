"""Schulze and Kemeny, against worked examples, brute force and each other."""

from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings.orders import Ballots, Kemeny, kemeny, pairwise, schulze

FORTY_FIVE = {  # Schulze (2011), example 1; also en.wikipedia.org/wiki/Schulze_method
    "ACBED": 5,
    "ADECB": 5,
    "BEDAC": 8,
    "CABED": 3,
    "CAEBD": 7,
    "CBADE": 2,
    "DCEBA": 7,
    "EBADC": 8,
}


def electorate(counts):
    names = tuple(sorted(set("".join(counts))))
    ballot = {order: tuple((names.index(c),) for c in order) for order in counts}
    return Ballots(tuple(ballot[order] for order, count in counts.items() for _ in range(count)), names)


def orders_of(count):
    return st.lists(st.permutations(range(count)), min_size=1, max_size=6)


def strict(orders, count):
    return Ballots(tuple(tuple((c,) for c in order) for order in orders), tuple("abcdefghi"[:count]))


def disagreements(order, table):
    return sum(table[low, high] for place, high in enumerate(order) for low in order[place + 1 :])


def test_schulzes_forty_five_voters_have_his_paths_and_his_order():
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


def test_schulze_leaves_out_whom_nobody_compared():
    found = schulze(Ballots((((0,), (1,)),), ("a", "b", "c")))

    assert found.order.groups == ((0,), (1,))
    assert found.order.unplaced == (2,)


def test_schulze_by_margins_and_by_winning_votes_may_differ():
    """A circle a > b > c > a: the weakest majority by votes is c's (5 to 0), by margin a's (7 to 6)."""
    halves = [((0,), (1,))] * 7 + [((1,), (0,))] * 6 + [((1,), (2,))] * 6 + [((2,), (0,))] * 5
    ballots = Ballots(tuple(halves), ("a", "b", "c"))

    assert schulze(ballots).order.winners == (0,)
    assert schulze(ballots, "margins").order.winners == (1,)


def test_kemeny_finds_the_capital_of_tennessee():
    """The example of en.wikipedia.org/wiki/Kemeny_method: Nashville, Chattanooga, Knoxville, Memphis; score 393."""
    found = kemeny(electorate({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}))

    assert [("C", "K", "M", "N")[c] for c in found.sequence] == ["N", "C", "K", "M"]
    assert found.is_unique
    assert 6 * 100 - found.distance == 393


def test_kemeny_says_how_many_orders_are_equally_good():
    circle = strict([(0, 1, 2), (1, 2, 0), (2, 0, 1)], 3)
    found, partly = kemeny(circle), kemeny(strict([(0, 1, 2, 3), (0, 2, 1, 3)], 4))

    assert (found.optima, found.order.groups) == (3, ((0, 1, 2),))
    assert found.sequence in {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert schulze(circle).order.groups == ((0, 1, 2),)
    assert (partly.optima, partly.order.groups) == (2, ((0,), (1, 2), (3,)))
    assert isinstance(kemeny(strict([range(8)], 9)), Kemeny)


@settings(max_examples=40, deadline=None)
@given(orders_of(5))
def test_kemeny_is_the_best_of_all_permutations(orders):
    ballots = strict(orders, 5)
    table = pairwise(ballots)
    costs = {order: disagreements(order, table) for order in permutations(range(5))}
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    found = kemeny(ballots)

    assert (found.distance, found.optima) == (min(costs.values()), len(best))
    assert found.sequence in best
    tied = [{tuple(sorted(group)) for group in found.order.groups}]
    if len(best) == 1:
        assert tied == [{(c,) for c in range(5)}]


@settings(max_examples=40, deadline=None)
@given(orders_of(4), st.permutations(range(4)))
def test_orders_move_with_the_candidates_when_these_are_renumbered(orders, seats):
    moved = strict([[seats[c] for c in order] for order in orders], 4)

    for method in (schulze, kemeny):
        before = tuple(frozenset(seats[c] for c in group) for group in method(strict(orders, 4)).order.groups)
        assert before == tuple(map(frozenset, method(moved).order.groups))


@settings(max_examples=60, deadline=None)
@given(orders_of(5))
def test_both_put_a_candidate_first_who_beats_everyone(orders):
    ballots = strict(orders, 5)
    table = pairwise(ballots)
    champions = np.flatnonzero((table > table.T).sum(axis=1) == 4)

    for champion in champions:
        assert schulze(ballots).order.winners == (champion,)
        assert kemeny(ballots).order.winners == (champion,)
