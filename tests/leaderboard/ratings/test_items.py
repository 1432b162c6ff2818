"""Intervals of battles that share samples: what they cover, and what the most even scores are worth."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Table, sandwich, tally
from leaderboard.ratings.items import Shared, as_wide_as, by_items, times_as_wide
from tests.leaderboard.ratings.leagues import league, names, rows, sampled_league

LEAGUES = 200
ROUND = [(first, second) for first in "abcd" for second in "abcd" if first < second]


def found_of(battles, items, **asked):
    return by_items(tally(battles), Shared(battles, np.asarray(items)), **asked)


def covered(intervals, truth):
    return (intervals.lower <= truth) & (truth <= intervals.upper)


@pytest.mark.exhaustive
@pytest.mark.parametrize("samples", [12, 60])
def test_where_battles_share_samples_the_interval_covers_the_truth_and_that_of_independent_ones_does_not(samples):
    naive, honest, told = [], [], []
    for seed in range(LEAGUES):
        battles, items, truth = sampled_league(8, samples, seed, shared=1.6)
        found = found_of(battles, items)
        naive.append(covered(sandwich(battles), truth))
        honest.append(covered(found, truth))
        _apart, low, high = found.difference("c000", "c001")
        told.append(low <= truth[0] - truth[1] <= high)

    assert np.mean(naive) < 0.84
    assert 0.93 <= np.mean(honest) <= 0.97
    assert 0.92 <= np.mean(told) <= 0.99


def test_a_sample_for_each_battle_gives_the_sandwich_but_for_the_number_of_samples():
    battles, _truth = league(6, 6_000, 3)

    assert found_of(battles, np.arange(6_000)).errors == pytest.approx(sandwich(battles).errors, rel=0.002)


def test_battles_of_unknown_samples_are_taken_for_independent():
    battles, items, _truth = sampled_league(5, 40)
    none = Battles([], [], [], battles.contestants)
    alone = by_items(tally(battles), Shared(none, np.zeros(0, dtype=int)))

    assert alone.errors == pytest.approx(found_of(battles, np.arange(len(battles))).errors)
    assert (found_of(battles, items).errors > alone.errors).all()


def test_samples_that_only_the_unbeaten_saw_make_nobody_surer():
    even = [(*pair, score) for pair in ROUND for score in (1, 0)] * 3
    battles = rows(*even, *[("z", "a", 1)] * 50)
    few = [place % 3 for place in range(len(even))]

    found = found_of(battles, [*few, *range(10, 60)])
    without = found_of(rows(*even), few)

    assert found.errors[:4] == pytest.approx(without.errors)


def test_who_only_tied_has_no_narrower_interval_than_the_model_gives():
    decided = [(*pair, score) for pair in ROUND for score in (1, 0) for _time in range(10)]
    tied = [("t", other, 0.5) for other in "abcd" for _time in range(5)]
    battles = rows(*decided, *tied)
    found = found_of(battles, np.arange(len(battles)))
    other = rows(*decided, *[("t", other, score) for other in "abcd" for score in (1, 0, 1, 0, 1)])

    tie, decisive = found.errors[4], found_of(other, np.arange(len(other))).errors[4]
    assert sandwich(battles).errors[4] < 0.5 * found.errors[:4].min(), "by the sandwich nothing is surer"
    assert tie > found.errors[:4].max()
    assert tie == pytest.approx(decisive, rel=0.05)


def test_nobody_with_few_battles_is_surer_than_the_model():
    battles, _truth = league(5, 2_000, 1)
    score = [*battles.score, *[1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0]]
    few = Battles([*battles.left, *[5] * 8], [*battles.right, *[0, 1, 2, 3] * 2], score, names(6))

    bare = found_of(few, np.arange(len(few)), at_least=False)

    found = found_of(few, np.arange(len(few)))
    assert found.errors[5] > 1.1 * bare.errors[5]
    assert (found.errors[:5] > bare.errors[:5]).all(), "it is one of those whose mean is 1000"
    assert found.difference("c000", "c001") == pytest.approx(bare.difference("c000", "c001"), rel=0.01)


def test_what_the_whole_taught_holds_for_a_part_of_it():
    battles, items, _truth = sampled_league(6, 400, 2)
    times = times_as_wide(tally(battles), found_of(battles, items))
    chosen = items < 200
    part = Battles(battles.left[chosen], battles.right[chosen], battles.score[chosen], battles.contestants)

    assert as_wide_as(tally(part), times).errors == pytest.approx(found_of(part, items[chosen]).errors, rel=0.1)
    assert as_wide_as(tally(part), [np.nan] * 6).errors == pytest.approx(sandwich(part).errors)


def met_by_one_more(samples, *met):
    """A league on so many samples, and a sixth contestant's (opponent, score, sample)."""
    battles, items, _truth = sampled_league(5, samples, 2)
    others, score, where = (list(told) for told in zip(*met, strict=True))
    left, right = [*battles.left, *[5] * len(met)], [*battles.right, *others]
    return Battles(left, right, [*battles.score, *score], names(6)), np.array([*items, *where])


def test_widths_of_all_battles_give_the_errors_of_all_battles():
    """A newcomer's six battles on three samples happen to come out evenly: nobody is surer of it for that."""
    newcomer = [(other, score, sample) for sample, other in enumerate((0, 1, 2)) for score in (1, 0)]
    battles, items = met_by_one_more(2_500, *newcomer)
    table, found = tally(battles), found_of(battles, items)

    times = times_as_wide(table, found)

    assert as_wide_as(table, times).errors == pytest.approx(found.errors, rel=1e-12)
    assert times.min() > 0.5
    assert found.errors[5] > 100


def test_who_is_known_from_one_sample_alone_has_no_error_and_who_is_new_has_the_usual_width():
    battles, items = met_by_one_more(60, (0, 1, 7), (1, 0, 7), (2, 1, 7), (3, 0, 7))
    table = tally(battles)
    times = times_as_wide(table, found_of(battles, items))

    known, new = (as_wide_as(table, [*times[:5], last]).errors for last in (times[5], np.nan))

    assert np.isinf(times).tolist() == [False] * 5 + [True]
    assert np.isnan(known).tolist() == [False] * 5 + [True]
    assert new[5] == pytest.approx(np.median(times[:5]) * as_wide_as(table, np.ones(6)).errors[5])
    unbeaten, items = met_by_one_more(20, (0, 1, 1), (1, 1, 2))
    assert np.isnan(times_as_wide(tally(unbeaten), found_of(unbeaten, items))).tolist() == [False] * 5 + [True]


def test_one_sample_tells_of_no_other_and_one_of_others_is_refused():
    battles, _items, _truth = sampled_league(4, 30)
    table = Table(np.zeros((2, 2)), np.zeros((2, 2)), ("a", "b"))

    assert np.isnan(found_of(battles, np.zeros(len(battles), dtype=int)).errors).all()
    with pytest.raises(ValueError, match="contestants"):
        by_items(table, Shared(battles, np.zeros(len(battles), dtype=int)))
