"""Sandwich and bootstrap, with and without shared samples: what intervals cover, and that a seed repeats them."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Table, bootstrap, sandwich, tally
from leaderboard.ratings.intervals import Shared, as_wide_as, by_items, times_as_wide
from tests.leaderboard.ratings.leagues import ELO, holds, league, names, rows, sampled_league

LEAGUES = 400
ROUND = [(first, second) for first in "abcd" for second in "abcd" if first < second]


def share(found):
    return float(np.mean(np.concatenate(found)))


def test_an_even_pair_has_the_error_of_a_share_and_large_tables_are_drawn_as_small_ones_are():
    """n battles, half won: the difference has variance 4 / n in nats, and each is half of it from the mean."""
    battles = Battles([0] * 100, [1] * 100, [1, 0] * 50, ["a", "b"])
    found = sandwich(battles)

    assert found.errors == pytest.approx([ELO * np.sqrt(4 / 100) / 2] * 2)
    assert found.difference("a", "b") == pytest.approx((0, -1.959964 * ELO * 0.2, 1.959964 * ELO * 0.2))

    for size in (9_000, 30_000):
        battles, _truth = league(4, size, ties=0.1)
        errors = sandwich(battles).errors

        for kind in ("multinomial", "bayesian"):
            assert bootstrap(battles, 1000, kind=kind).errors == pytest.approx(errors, rel=0.1), (size, kind)


def test_the_same_seed_gives_the_same_interval_in_any_sequence():
    battles, _truth = league(6, 200, 5, ties=0.2)
    seats = np.array([3, 0, 5, 1, 4, 2])
    contestants = [battles.contestants[int(np.flatnonzero(seats == place)[0])] for place in range(6)]
    moved = Battles(seats[battles.left][::-1], seats[battles.right][::-1], battles.score[::-1], contestants)
    for kind in ("multinomial", "bayesian"):
        asked = ((battles, 4), (moved, 4), (battles, 5))
        before, after, other = (bootstrap(some, 100, seed, kind=kind) for some, seed in asked)
        assert np.array_equal(after.lower[seats], before.lower)
        assert np.array_equal(after.upper[seats], before.upper)
        assert not np.array_equal(other.lower, before.lower)


def test_who_is_unbeaten_in_many_resamples_has_no_upper_bound_and_who_has_no_rating_no_interval():
    inner, _truth = league(5, 500, 2)
    left, right, score = [*inner.left, *[5] * 10], [*inner.right, *[0, 1, 2, 3, 4] * 2], [*inner.score, *[1] * 9, 0]
    found = bootstrap(Battles(left, right, score, names(6)), 300)

    assert found.upper[5] == np.inf
    assert np.isfinite(found.lower).all()
    assert np.isfinite(found.upper[:5]).all()

    battles = rows(("a", "b", 1), ("a", "b", 0), ("c", "a", 1))

    for found in (sandwich(battles), bootstrap(battles, 50)):
        assert np.isnan([found.lower[2], found.upper[2], found.errors[2]]).all()
        assert not np.isnan(found.lower[:2]).any()
    apart = rows(("a", "b", 1), ("a", "b", 0), ("c", "d", 1), ("c", "d", 0))
    assert np.isnan(sandwich(apart).covariance[0, 2]), "nothing is said of differences between components"


def test_an_exact_anchor_has_no_width_and_an_uncertain_one_widens_everybody_by_its_error():
    battles, _truth = league(5, 500, 3)
    anchors = {"c000": 1100.0, "c002": 900.0}

    for found in (sandwich(battles, anchors=anchors), bootstrap(battles, 200, anchors=anchors)):
        assert found.lower[[0, 2]] == pytest.approx([1100, 900])
        assert found.upper[[0, 2]] == pytest.approx([1100, 900])
        assert (found.upper - found.lower)[[1, 3, 4]].min() > 10

    battles, _truth = league(4, 500, 3)
    exact, uncertain = {"anchors": {"c000": 1000.0}}, {"anchors": {"c000": 1000.0}, "errors": {"c000": 30.0}}
    loose = sandwich(battles, **uncertain)

    assert loose.errors**2 == pytest.approx(sandwich(battles, **exact).errors ** 2 + 900)
    assert bootstrap(battles, 2000, **uncertain).errors == pytest.approx(loose.errors, rel=0.1)


@pytest.mark.parametrize("leagues", [60, pytest.param(LEAGUES, marks=pytest.mark.exhaustive)])
def test_a_newcomer_is_compared_with_uncertain_anchors_at_the_level_that_is_claimed(leagues):
    """Anchors rated from 100 battles a pair: taken as exact they make a newcomer's intervals too narrow."""
    exact, joint = [], []
    for seed in range(leagues):
        strengths = np.random.default_rng(10_000 + seed).normal(0, 0.6, 4)
        old, _truth = league(3, 300, seed, strengths=strengths[:3])
        both, truth = league(4, 600, 50_000 + seed, strengths=strengths)
        new = (both.left == 3) | (both.right == 3)
        battles = Battles(both.left[new], both.right[new], both.score[new], names(4))
        before = sandwich(old)
        anchors = dict(zip(names(3), before.ratings.values, strict=True))
        for found, errors in ((exact, None), (joint, before.covariance)):
            _apart, low, high = sandwich(battles, anchors=anchors, errors=errors).difference("c003", "c000")
            found.append([low <= truth[3] - truth[0] <= high])

    assert share(exact) < 0.93
    assert 0.93 <= share(joint) <= (0.97 if leagues == LEAGUES else 1)


def test_clusters_of_one_battle_change_nothing_doubled_battles_widen_and_many_are_summed_in_portions(monkeypatch):
    battles, _truth = league(6, 400, 2, ties=0.2)
    twice = Battles(*(np.tile(side, 2) for side in (battles.left, battles.right, battles.score)), battles.contestants)
    once = sandwich(battles)

    assert sandwich(battles, clusters=np.arange(400)[::-1]).errors == pytest.approx(once.errors)
    assert sandwich(twice).errors == pytest.approx(once.errors / np.sqrt(2))
    assert sandwich(twice, clusters=np.tile(np.arange(400), 2)).errors == pytest.approx(once.errors)

    clusters = np.random.default_rng(0).integers(0, 90, 400)
    whole = sandwich(battles, clusters=clusters).errors
    monkeypatch.setattr("leaderboard.ratings.intervals.MOST_AT_ONCE", 6 * 7)

    assert sandwich(battles, clusters=clusters).errors == pytest.approx(whole)


def test_fractions_are_weighed_but_not_drawn_and_errors_that_are_not_the_anchors_are_refused():
    table = tally(league(4, 100)[0])
    halved = Table(table.wins / 3, table.ties, table.contestants)

    assert np.isfinite(bootstrap(halved, 20, kind="bayesian").lower).all()
    with pytest.raises(ValueError, match="bayesian"):
        bootstrap(halved, 20)
    for errors in ({"c001": 3.0}, {"c000": -1.0}, np.zeros((2, 2))):
        with pytest.raises(ValueError, match="anchors"):
            sandwich(league(3, 50)[0], anchors={"c000": 1000.0}, errors=errors)


def test_two_groups_that_two_battles_link_may_be_any_distance_apart():
    """Two pairs that met often. One in seven resamples has neither of two battles between them, half one side's."""

    def parted(bridges):
        wins = np.zeros((4, 4))
        wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 40.0
        wins[1, 2] = wins[2, 1] = bridges
        return Table(wins, np.zeros((4, 4)), ("a", "b", "c", "d"))

    linked = bootstrap(parted(1.0), 400)
    held = bootstrap(parted(0.0), 50, anchors={"a": 1000, "d": 1000})
    tied = bootstrap(rows(("a", "b", 0.5), ("a", "b", 0.5)), 50)

    assert (linked.upper.tolist(), linked.lower.tolist()) == ([np.inf] * 4, [-np.inf] * 4)
    assert np.isfinite([held.lower, held.upper]).all(), "groups that an anchor each holds are linked"
    assert tied.lower.tolist() == [1000, 1000], "two who only tied are equal in every resample"


@pytest.mark.parametrize(
    ("kind", "leagues"),
    [
        ("sandwich", 40),  # a bootstrap has its spread: see above
        *(pytest.param(one, LEAGUES, marks=pytest.mark.exhaustive) for one in ("sandwich", "multinomial", "bayesian")),
    ],
)
def test_intervals_of_many_leagues_cover_the_truth(kind, leagues):
    found = []
    for battles, truth in (league(5, 400, seed) for seed in range(leagues)):
        rated = sandwich(battles) if kind == "sandwich" else bootstrap(battles, 100, seed=7, kind=kind)
        found.append(holds(rated, truth))

    assert (0.93 if leagues == LEAGUES else 0.9) <= share(found) <= (0.97 if leagues == LEAGUES else 0.99)


def found_of(battles, items, **asked):
    return by_items(tally(battles), Shared(battles, np.asarray(items)), **asked)


@pytest.mark.exhaustive
@pytest.mark.parametrize("samples", [12, 60])
def test_where_battles_share_samples_the_interval_covers_the_truth_and_that_of_independent_ones_does_not(samples):
    naive, honest, told = [], [], []
    for seed in range(200):
        battles, items, truth = sampled_league(8, samples, seed, shared=1.6)
        found = found_of(battles, items)
        naive.append(holds(sandwich(battles), truth))
        honest.append(holds(found, truth))
        _apart, low, high = found.difference("c000", "c001")
        told.append(low <= truth[0] - truth[1] <= high)

    assert np.mean(naive) < 0.84
    assert 0.93 <= np.mean(honest) <= 0.97
    assert 0.92 <= np.mean(told) <= 0.99


def test_samples_of_the_unbeaten_make_nobody_surer_and_who_only_tied_has_no_narrower_interval():
    even = [(*pair, score) for pair in ROUND for score in (1, 0)] * 3
    battles = rows(*even, *[("z", "a", 1)] * 50)
    few = [place % 3 for place in range(len(even))]

    found = found_of(battles, [*few, *range(10, 60)])
    without = found_of(rows(*even), few)

    assert found.errors[:4] == pytest.approx(without.errors)

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


def met_by_one_more(samples, *met):
    """A league on so many samples, and a sixth contestant's (opponent, score, sample)."""
    battles, items, _truth = sampled_league(5, samples, 2)
    others, score, where = (list(told) for told in zip(*met, strict=True))
    left, right = [*battles.left, *[5] * len(met)], [*battles.right, *others]
    return Battles(left, right, [*battles.score, *score], names(6)), np.array([*items, *where])


def test_widths_of_all_battles_give_their_errors_of_one_sample_none_and_the_usual_one_of_who_is_new():
    """A newcomer's six battles on three samples happen to come out evenly: nobody is surer of it for that."""
    newcomer = [(other, score, sample) for sample, other in enumerate((0, 1, 2)) for score in (1, 0)]
    battles, items = met_by_one_more(2_500, *newcomer)
    table, found = tally(battles), found_of(battles, items)

    times = times_as_wide(table, found)

    assert as_wide_as(table, times).errors == pytest.approx(found.errors, rel=1e-12)
    assert times.min() > 0.5
    assert found.errors[5] > 100

    battles, items = met_by_one_more(60, (0, 1, 7), (1, 0, 7), (2, 1, 7), (3, 0, 7))
    table = tally(battles)
    times = times_as_wide(table, found_of(battles, items))

    known, new = (as_wide_as(table, [*times[:5], last]).errors for last in (times[5], np.nan))

    assert np.isinf(times).tolist() == [False] * 5 + [True]
    assert np.isnan(known).tolist() == [False] * 5 + [True]
    assert new[5] == pytest.approx(np.median(times[:5]) * as_wide_as(table, np.ones(6)).errors[5])
    unbeaten, items = met_by_one_more(20, (0, 1, 1), (1, 1, 2))
    assert np.isnan(times_as_wide(tally(unbeaten), found_of(unbeaten, items))).tolist() == [False] * 5 + [True]


def test_where_no_width_is_known_battles_are_taken_for_independent_and_of_one_sample_nothing_is():
    table = tally(league(4, 100)[0])

    assert as_wide_as(table, [np.nan] * 4).errors == pytest.approx(as_wide_as(table, np.ones(4)).errors)

    battles, _items, _truth = sampled_league(4, 30)
    one_sample = np.zeros(len(battles), dtype=int)
    assert np.isnan(found_of(battles, one_sample).errors).all()
    with pytest.raises(ValueError, match="contestants"):
        by_items(Table(np.zeros((2, 2)), np.zeros((2, 2)), ("a", "b")), Shared(battles, one_sample))
