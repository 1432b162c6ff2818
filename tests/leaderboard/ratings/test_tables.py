"""Figures from tables of counts are those of the units that were counted."""

import numpy as np
import pytest

from leaderboard.ratings.agreement import Reason, Undefined, cohen_interval, cohen_kappa
from leaderboard.ratings.tables import kappa_interval_of_items, kappa_of_table, spearman

UNITS = [(0, 0)] * 40 + [(0, 1)] * 9 + [(1, 0)] * 6 + [(1, 1)] * 30 + [(2, 1)] * 5 + [(2, 2)] * 10


def table_of(units):
    table = np.zeros((3, 3))
    for first, second in units:
        table[first, second] += 1
    return table


def test_kappa_of_a_table_is_that_of_its_units():
    first, second = zip(*UNITS, strict=True)

    assert kappa_of_table(table_of(UNITS)) == pytest.approx(cohen_kappa(first, second))


def items_of(units, times=1):
    """Each unit an item of its own, on which so many answers are the same."""
    return np.array([times * table_of([unit]) for unit in units])


def test_its_interval_is_that_of_drawing_units_where_each_item_is_one_unit():
    first, second = zip(*UNITS, strict=True)
    drawn = cohen_interval(first, second, rounds=2000)

    found = kappa_interval_of_items(items_of(UNITS), rounds=2000)

    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.02)
    assert kappa_interval_of_items(items_of(UNITS)[::-1], rounds=2000) == found


def test_the_same_answer_again_on_the_same_item_makes_no_interval_narrower():
    once, often = (kappa_interval_of_items(items_of(UNITS, times), rounds=2000) for times in (1, 25))

    assert (often.low, often.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize(
    ("table", "reason"), [(np.zeros((3, 3)), Reason.NOTHING_PAIRED), (np.diag([5, 0, 0]), Reason.CONSTANT)]
)
def test_a_kappa_that_does_not_exist_says_why(table, reason):
    assert kappa_of_table(table) == Undefined(reason)


def test_an_interval_needs_units():
    assert kappa_interval_of_items(np.zeros((0, 3, 3))) == Undefined(Reason.TOO_FEW_UNITS)
    assert kappa_interval_of_items(items_of([(0, 0)])) == Undefined(Reason.TOO_FEW_UNITS)
    assert kappa_interval_of_items(items_of([(0, 0)] * 9)) == Undefined(Reason.MOSTLY_UNDEFINED)


def test_a_table_has_as_many_rows_as_columns():
    with pytest.raises(ValueError, match="square"):
        kappa_of_table([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(ValueError, match="items"):
        kappa_interval_of_items([[1, 2], [3, 4]])


def test_spearman_by_hand_and_with_ties():
    assert spearman([1, 2, 3, 4], [10, 20, 40, 30]) == pytest.approx(0.8)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2, 3], [1, 1, 2, 3]) == pytest.approx(1)
    assert spearman([1, 2, np.nan, 3], [5, 6, 7, 9]) == pytest.approx(1)


def test_spearman_that_does_not_exist_says_why():
    assert spearman([1, 2], [2, 1]) == Undefined(Reason.TOO_FEW_UNITS)
    assert spearman([1, 1, 1], [1, 2, 3]) == Undefined(Reason.CONSTANT)
    with pytest.raises(ValueError, match="one length"):
        spearman([1, 2], [1, 2, 3])
