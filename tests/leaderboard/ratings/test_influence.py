"""How far ratings depend on single units: what is said is what leaving each of them out would show."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, fit
from leaderboard.ratings.influence import influence, ranks_of
from tests.leaderboard.ratings.leagues import league, rows, sampled_league


def left_out(battles, clusters):
    """The ranks of all without each cluster, by fitting anew."""
    found = []
    for label in np.unique(clusters):
        kept = clusters != label
        part = Battles(battles.left[kept], battles.right[kept], battles.score[kept], battles.contestants)
        found.append(ranks_of(fit(part).values))
    return np.array(found)


def test_what_is_said_is_what_leaving_out_shows_of_few_units_and_of_many():
    few, of_few, _truth = sampled_league(5, 12, 3, shared=2.0)
    many, _truth = league(8, 3000, 1, spread=0.12)
    for battles, samples, off in ((few, of_few, 0), (many, np.random.default_rng(1).integers(0, 100, 3000), 2)):
        before, after = ranks_of(fit(battles).values), left_out(battles, samples)

        found = influence(battles, samples)

        assert found.clusters == len(np.unique(samples))
        assert found.first == (after[:, before.argmin()] > 1).sum()
        assert found.any == pytest.approx((after != before).any(axis=1).sum(), abs=off) != 0
        assert abs(found.after - found.before) == np.abs(after - before).max()


def test_a_unit_that_holds_a_rank_up_is_named_with_whose_rank_it_is():
    """Voter 9 alone puts c first; without that voter it is last."""
    even = [("a", "b", 1), ("a", "b", 0), ("a", "b", 1), ("b", "c", 1), ("a", "c", 1), ("b", "c", 0)]
    battles = rows(*even * 8, *[("c", "a", 1), ("c", "b", 1)] * 30)
    voters = np.append(np.tile(np.arange(8), 6), np.full(60, 9))

    found = influence(battles, voters)

    assert (found.cluster, found.contestant, found.before, found.after) == (9, "c", 1, 3)
    assert found.moves < -100
    assert found.first == 1


def test_one_unit_says_nothing_and_a_contestant_that_only_one_knows_is_last_without_it():
    battles = rows(("a", "b", 1), ("b", "a", 1), ("a", "b", 1))

    assert influence(battles, [4, 4, 4]) is None
    assert influence(rows(("a", "b", 1), ("a", "b", 1)), [1, 2]) is None

    battles = rows(*[("a", "b", 1), ("b", "a", 1)] * 6, ("c", "a", 1), ("a", "c", 1))

    found = influence(battles, np.append(np.repeat(np.arange(6), 2), [7, 7]))

    assert (found.cluster, found.contestant, found.after) == (7, "c", 3)
    assert np.isnan(found.moves) or np.isinf(found.moves)
