"""Voters whose votes look unlike those of somebody who compares: every figure by hand, and where each mark begins."""

import pytest

from leaderboard.ratings import Undefined
from leaderboard.ratings.outliers import LEFT, NEITHER, RIGHT, Mark, effective, voters
from leaderboard.ratings.statistics import Share


def log(*people, counts=None):
    """One voter per list of (item, answer, whether left was shown first, second)."""
    rows = [(who, *vote) for who, votes in enumerate(people) for vote in votes]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _column in range(5)]
    return voters(*columns, [True] * len(rows) if counts is None else counts)


def votes_of(answers, *, first=True, every=30.0):
    return [(item, answer, first, item * every) for item, answer in enumerate(answers)]


def marks(*people):
    return [set(one.marks) for one in log(*people)]


def test_the_first_is_what_was_shown_first_and_one_who_votes_a_lot_makes_the_voters_fewer():
    [one] = log([(0, LEFT, True, 0), (1, LEFT, False, 9), (2, RIGHT, False, 18), (3, NEITHER, True, 27)])

    assert (one.first, one.neither, one.votes) == (Share(2, 3), Share(1, 4), 4)
    assert log() == []
    with pytest.raises(ValueError, match="one row per vote"):
        voters([0], [0, 1], [0], [True], [0], [True])

    assert effective([10, 10, 10, 10]) == 4
    assert effective([500, 10, 10]) == pytest.approx(520**2 / (500**2 + 200))
    assert effective([]) is None
    assert effective([0, 0]) is None


def test_who_chooses_the_first_is_too_fast_says_the_opposite_or_votes_too_much_is_marked():
    shown = [(item, LEFT if item % 2 else RIGHT, bool(item % 2), item * 30.0) for item in range(20)]
    fair = [(item, LEFT if item % 2 else RIGHT, True, item * 30.0) for item in range(40)]

    assert Mark.ONE_SIDED in marks(shown)[0]
    assert marks(shown[:19])[0] == set()
    assert Mark.ONE_SIDED not in marks(fair)[0]

    quick = [(item, LEFT if item % 2 else RIGHT, True, item * 1.9) for item in range(11)]

    assert marks(quick) == [{Mark.TOO_FAST}]
    assert marks([(item, answer, first, 2.0 * item) for item, answer, first, _second in quick]) == [set()]

    found = marks(*[votes_of([LEFT, RIGHT] * 15)] * 4, votes_of([RIGHT, LEFT] * 15))
    assert [Mark.AGAINST_OTHERS in one for one in found] == [False, False, False, False, True]

    def cast(count, start):
        return [(start + item, LEFT if item % 2 else RIGHT, True, item * 30.0) for item in range(count)]

    assert marks(*(cast(20, 100 * who) for who in range(4))) == [set()] * 4
    assert marks(cast(21, 0), *(cast(20, 100 * who) for who in range(1, 4)))[0] == {Mark.TOO_MANY}
    assert marks(cast(19, 0)) == [set()]


def test_the_pace_is_the_median_within_sittings_of_rows_in_any_sequence():
    seconds = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44 + 601, 49 + 601]
    there = [(item, LEFT, True, second) for item, second in enumerate(seconds)]
    [one] = log(there)
    [few] = log([(item, LEFT, True, item * 1.0) for item in range(10)])  # nine pauses

    assert one.pace == 4.0
    assert Mark.TOO_FAST not in one.marks
    assert log(there[::-1]) == [one]
    assert [voter.pace for voter in log(there, [(item, LEFT, True, 7.0 * item) for item in range(12)])] == [4.0, 7.0]
    assert isinstance(few.pace, Undefined)
    assert few.marks == ()


def test_agreement_is_with_what_most_others_said_by_votes_that_count_where_most_said_one_thing():
    mine = votes_of([LEFT, LEFT, RIGHT, NEITHER])
    others = [votes_of([LEFT, RIGHT, LEFT]), votes_of([LEFT, RIGHT, RIGHT])]

    one, [alone] = log(mine, *others)[0], log(votes_of([LEFT, RIGHT]))

    assert one.with_others == Share(3, 4)  # on the fourth nobody else has voted
    assert one.agreement == Share(1, 2)  # on the third the others were of two minds
    assert one.chance == pytest.approx(0.5)  # said left twice; others left once, right once
    assert (alone.with_others, alone.agreement) == (Share(0, 2), Share(0, 0))
    assert isinstance(alone.chance, Undefined)

    two = log(votes_of([LEFT]), votes_of([LEFT]), counts=[True, False])

    assert (two[0].with_others.part, two[1].with_others.part) == (0, 1)
    assert (two[1].votes, two[1].counted, two[1].weight) == (1, 0, Share(0, 1))
