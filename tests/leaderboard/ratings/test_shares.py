"""Shares of votes that meet the same verdict: as sure as their items allow, and no surer."""

import numpy as np
import pytest

from leaderboard.ratings.shares import Share, share_of_items


def test_items_of_one_vote_have_wilsons_interval():
    assert share_of_items([1, 0, 1, 1], [1, 1, 1, 1]).interval == Share(3, 4).interval
    assert share_of_items([], []).interval is None


def test_ten_votes_that_agree_on_every_item_are_no_more_than_one():
    together, alone = share_of_items([10, 0, 10, 10] * 10, [10] * 40), Share(30, 40)

    low, high = together.interval
    assert (together.part, together.of) == (300, 400)
    assert low == pytest.approx(alone.interval[0], abs=0.01)
    assert high == pytest.approx(alone.interval[1], abs=0.01)


def test_all_of_few_items_is_not_all_of_many_votes():
    assert share_of_items([50, 50], [50, 50]).interval == Share(2, 2).interval


def test_items_that_all_came_out_alike_are_one_unit_each_whatever_rounding_leaves():
    even = share_of_items([7] * 5, [25] * 5)

    assert even.effective == 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("items", [8, 40])
def test_the_interval_covers_the_share_where_votes_on_an_item_go_together(items):
    random = np.random.default_rng(3)
    truth, covered, naive = 1.5 / 2.2, [], []
    for _time in range(1000):
        part = random.binomial(10, random.beta(1.5, 0.7, items))
        for found, told in ((covered, share_of_items(part, [10] * items)), (naive, Share(part.sum(), 10 * items))):
            low, high = told.interval
            found.append(low <= truth <= high)

    assert 0.925 <= np.mean(covered) <= 0.98
    assert np.mean(naive) < 0.75
