"""Bounds of those that won, or lost, every battle with the rated contestants."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Shared, by_items, sandwich, tally
from leaderboard.ratings.items import as_wide_as
from tests.leaderboard.ratings.leagues import league, rows

CIRCLE = [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)] * 12


@pytest.mark.parametrize("score", [1, 0])
def test_at_the_bound_all_battles_come_out_alike_with_a_probability_of_one_in_forty(score):
    inner, _truth = league(4, 400, 1)
    left, right = [*inner.left, *[4] * 30], [*inner.right, *[0, 1, 1, 2, 3] * 6]
    found = sandwich(Battles(left, right, [*inner.score, *[score] * 30], [*inner.contestants, "new"]))
    bound = (found.one_sided.lower if score else found.one_sided.upper)[4]
    gaps = (2 * score - 1) * (bound - found.ratings.values[[0, 1, 1, 2, 3]])

    assert np.prod(1 / (1 + 10 ** (-gaps / 400))) ** 6 == pytest.approx(0.025)
    assert np.isnan(found.one_sided.lower[:4]).all()
    assert found.one_sided.weights[4].sum() == pytest.approx(1)


def test_battles_on_one_item_count_as_the_hardest_of_them():
    """All three opponents met on each of six items are six observations, of one item none."""
    battles = rows(*CIRCLE, *[("new", name, 1) for name in "abc"] * 6)
    alone = np.arange(36)
    six, one = (np.concatenate([alone, 100 + np.repeat(np.arange(6), 3) * many]) for many in (1, 0))
    table = tally(battles)
    of_six, of_one = (by_items(table, Shared(battles, items)).one_sided for items in (six, one))
    probability = 1 / (1 + 10 ** ((1000 - of_six.lower[3]) / 400))

    assert probability**6 == pytest.approx(0.025)
    assert of_six.surely[3, :3].all()
    assert np.isnan(of_one.lower[3])
    assert not of_one.surely.any()
    assert of_six.lower[3] < sandwich(battles).one_sided.lower[3]


def test_without_their_items_battles_count_as_many_times_less_as_intervals_are_wider():
    many, few = (tally(rows(*CIRCLE, *[("new", name, 1) for name in "abc"] * n)) for n in (12, 6))

    assert as_wide_as(many, [2**0.5] * 4).one_sided.lower[3] == pytest.approx(sandwich(few).one_sided.lower[3])
