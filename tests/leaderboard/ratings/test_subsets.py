"""Ratings from some battles beside those from all, a planted contamination, and how far single units hold them up."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Shared, by_items, fit, moved, tally
from leaderboard.ratings.influence import influence, ranks_of
from tests.leaderboard.ratings.leagues import holds, is_as_often_as_claimed, league, names, rows, sampled_league

STRENGTHS = np.array([0.0, 0.5, 0.2, -0.2, -0.5])


def of_items(shared, chosen):
    """The battles on some items."""
    return at_places(shared, np.flatnonzero(np.isin(shared.items, chosen)))


def at_places(shared, at):
    battles = shared.battles
    part = Battles(battles.left[at], battles.right[at], battles.score[at], battles.contestants)
    return Shared(part, shared.items[at])


def contaminated(seed, *, samples=200, seen=120, bonus=1.2, luck=0.7):
    """The first contestant knew the first `seen` samples, on which it is `bonus` nats stronger. Gives the battles on
    the others, all battles, and the ratings that ever more samples without a contamination lead to.
    """
    gain = np.zeros((samples, 5))
    gain[:seen, 0] = bonus
    battles, items, truth = sampled_league(5, samples, seed, shared=luck, strengths=STRENGTHS, gain=gain)
    whole = Shared(battles, items)
    return of_items(whole, np.arange(seen, samples)), whole, truth


@pytest.mark.parametrize("leagues", [60, pytest.param(600, marks=pytest.mark.exhaustive)])
def test_a_whole_board_is_wrong_and_its_unseen_samples_are_right(leagues):
    unseen_inside, whole_inside, told, sizes = [], [], [], []
    for seed in range(leagues):
        part, whole, truth = contaminated(seed)
        of_part, of_whole = (by_items(tally(one.battles), one) for one in (part, whole))
        found = moved(part, whole)
        unseen_inside.append(holds(of_part, truth))
        whole_inside.append(of_whole.lower[0] <= truth[0] <= of_whole.upper[0])
        told.append(found.upper[0] < 0)
        sizes.append(found.values)

    assert is_as_often_as_claimed(unseen_inside)
    assert np.mean(whole_inside) < 0.1
    assert np.mean(told) > 0.9, "the difference of the contaminated one is below 0 beyond chance"
    assert np.mean(sizes, axis=0)[0] < -60
    assert (np.mean(sizes, axis=0)[1:] > 0).all(), "ratings are relative: the others rise"


@pytest.mark.parametrize(
    ("seen", "leagues"), [(150, 60), *(pytest.param(one, 600, marks=pytest.mark.exhaustive) for one in (40, 150))]
)
def test_without_a_contamination_the_interval_of_the_difference_holds_nothing(leagues, seen):
    found = [moved(*contaminated(seed, seen=seen, bonus=0.0)[:2]) for seed in range(leagues)]

    assert is_as_often_as_claimed([(one.lower <= 0) & (one.upper >= 0) for one in found])


def test_differences_are_those_of_two_fits_and_errors_those_of_leaving_each_item_out():
    battles, items, _truth = sampled_league(6, 150, seed=3)
    whole = Shared(battles, items)
    part = of_items(whole, np.arange(60))

    found = moved(part, whole)

    of_part, of_whole = fit(part.battles).values, fit(whole.battles).values
    assert found.values == pytest.approx(of_part - of_whole, abs=1e-6)
    without = []
    for item in range(150):
        rest = np.setdiff1d(np.arange(150), [item])
        kept = of_items(whole, rest)
        without.append(fit(of_items(kept, np.arange(60)).battles).values - fit(kept.battles).values)
    jackknife = np.sqrt(149 / 150 * ((without - np.mean(without, axis=0)) ** 2).sum(axis=0))
    assert (found.upper - found.lower) / 2 == pytest.approx(2.0 * jackknife, rel=0.08)


def test_ratings_of_a_part_are_put_on_the_scale_of_those_rated_in_both():
    battles, items, _truth = sampled_league(5, 80, seed=5)
    whole = Shared(battles, items)
    at = np.flatnonzero((items < 40) & (battles.left != 0) & (battles.right != 0))
    part = at_places(whole, at)

    found = moved(part, whole)

    of_part, of_whole = fit(part.battles).values, fit(whole.battles).values
    assert np.isnan(found.values[0])
    assert np.isnan(found.lower[0])
    assert np.nanmean(found.values) == pytest.approx(0, abs=1e-6)
    assert of_part[1:] + found.shift - of_whole[1:] == pytest.approx(found.values[1:], abs=1e-6)
    assert abs(found.shift) > 1


def test_where_the_part_rates_fewer_than_two_nothing_is_compared_and_of_one_item_without_an_interval():
    whole = contaminated(1)[1]
    nothing = Shared(Battles([], [], [], names(5)), np.zeros(0, dtype=np.int64))

    assert moved(nothing, whole) is None
    with pytest.raises(ValueError, match="contestants of the whole"):
        moved(Shared(Battles([], [], [], names(4)), np.zeros(0, dtype=np.int64)), whole)

    whole = contaminated(2)[1]
    tied = np.array([0, 1]), np.array([1, 2]), np.array([0.5, 0.5])
    one = Shared(Battles(*tied, names(5)), np.array([199, 199]))
    battles = whole.battles
    sides = zip((battles.left, battles.right, battles.score), tied, strict=True)
    every = Shared(Battles(*map(np.concatenate, sides), names(5)), np.concatenate([whole.items, one.items]))

    found = moved(one, every)

    assert np.isfinite(found.values[:3]).all()
    assert np.isnan(found.lower[:3]).all()


def test_what_is_said_is_what_leaving_out_shows_of_few_units_and_of_many():
    few, of_few, _truth = sampled_league(5, 12, 3, shared=2.0)
    many, _truth = league(8, 3000, 1, spread=0.12)
    for battles, samples, off in ((few, of_few, 0), (many, np.random.default_rng(1).integers(0, 100, 3000), 2)):
        units, shared = np.unique(samples), Shared(battles, samples)
        fewer = [at_places(shared, samples != unit).battles for unit in units]
        before, after = ranks_of(fit(battles).values), np.array([ranks_of(fit(one).values) for one in fewer])

        found = influence(battles, samples)

        assert found.clusters == len(units)
        assert found.first == (after[:, before.argmin()] > 1).sum()
        assert found.any == pytest.approx((after != before).any(axis=1).sum(), abs=off) != 0
        assert abs(found.after - found.before) == np.abs(after - before).max()


def test_a_unit_that_holds_a_rank_up_is_named_with_whose_rank_it_is_and_one_unit_says_nothing():
    """Voter 9 alone puts c first; without that voter it is last."""
    even = [("a", "b", 1), ("a", "b", 0), ("a", "b", 1), ("b", "c", 1), ("a", "c", 1), ("b", "c", 0)]
    battles = rows(*even * 8, *[("c", "a", 1), ("c", "b", 1)] * 30)
    voters = np.append(np.tile(np.arange(8), 6), np.full(60, 9))

    found = influence(battles, voters)

    assert (found.cluster, found.contestant, found.before, found.after) == (9, "c", 1, 3)
    assert found.moves < -100
    assert found.first == 1

    battles = rows(("a", "b", 1), ("b", "a", 1), ("a", "b", 1))

    assert influence(battles, [4, 4, 4]) is None
    assert influence(rows(("a", "b", 1), ("a", "b", 1)), [1, 2]) is None

    battles = rows(*[("a", "b", 1), ("b", "a", 1)] * 6, ("c", "a", 1), ("a", "c", 1))

    found = influence(battles, np.append(np.repeat(np.arange(6), 2), [7, 7]))

    assert (found.cluster, found.contestant, found.after) == (7, "c", 3)
    assert np.isnan(found.moves) or np.isinf(found.moves)
