"""Resamples that part the contestants are no maxima of all of them."""

import numpy as np

from leaderboard.ratings import Table, bootstrap
from leaderboard.ratings.replicates import climb


def parted(bridges):
    """Two pairs that met often, and each other so many times."""
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 40.0
    wins[1, 2] = wins[2, 1] = bridges
    return wins


def test_a_resample_without_the_battles_that_link_two_groups_is_not_solved():
    points = np.stack([parted(0.0), parted(1.0)])

    _strengths, done = climb(points, np.zeros((2, 4)), np.eye(4) / 40, np.zeros(4, dtype=bool))

    assert not done[0]


def test_groups_that_an_anchor_each_holds_are_linked():
    is_fixed = np.array([True, False, False, True])
    inverse = np.diag([0.0, 1 / 20, 1 / 20, 0.0])

    _strengths, done = climb(parted(0.0)[None], np.zeros((1, 4)), inverse, is_fixed)

    assert done.all()


def test_two_groups_that_two_battles_link_may_be_any_distance_apart():
    """One in seven resamples has neither of the two, half of them only one side's."""
    found = bootstrap(Table(parted(1.0), np.zeros((4, 4)), ("a", "b", "c", "d")), 400)

    assert found.upper.tolist() == [np.inf] * 4
    assert found.lower.tolist() == [-np.inf] * 4
