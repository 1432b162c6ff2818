"""Sandwich and bootstrap: what they cover, what they say of the unbeaten, and that a seed repeats them."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Table, bootstrap, sandwich, tally
from tests.cases import each_case
from tests.leaderboard.ratings.leagues import ELO, league, names, rows

LEAGUES = 400


def covered(intervals, truth):
    return (intervals.lower <= truth) & (truth <= intervals.upper)


def share(found):
    return float(np.mean(np.concatenate(found)))


def test_an_even_pair_has_the_error_of_a_share():
    """n battles, half won: the difference has variance 4 / n in nats, and each is half of it from the mean."""
    battles = Battles([0] * 100, [1] * 100, [1, 0] * 50, ["a", "b"])
    found = sandwich(battles)

    assert found.errors == pytest.approx([ELO * np.sqrt(4 / 100) / 2] * 2)
    assert found.difference("a", "b") == pytest.approx((0, -1.959964 * ELO * 0.2, 1.959964 * ELO * 0.2))


def test_large_tables_are_drawn_as_small_ones_are():
    """Above 10,000 battles counts are topped-up Poisson numbers: their spread is that of the sandwich all the same."""
    for size in (9_000, 30_000):
        battles, _truth = league(4, size, ties=0.1)
        errors = sandwich(battles).errors

        for kind in ("multinomial", "bayesian"):
            assert bootstrap(battles, 1000, kind=kind).errors == pytest.approx(errors, rel=0.1), (size, kind)


@pytest.mark.parametrize("kind", ["multinomial", "bayesian"])
def test_the_same_seed_gives_the_same_interval_in_any_sequence(kind):
    battles, _truth = league(6, 200, 5, ties=0.2)
    seats = np.array([3, 0, 5, 1, 4, 2])
    contestants = [battles.contestants[int(np.flatnonzero(seats == place)[0])] for place in range(6)]
    moved = Battles(seats[battles.left][::-1], seats[battles.right][::-1], battles.score[::-1], contestants)
    before, after = bootstrap(battles, 100, 4, kind=kind), bootstrap(moved, 100, 4, kind=kind)

    assert np.array_equal(after.lower[seats], before.lower)
    assert np.array_equal(after.upper[seats], before.upper)
    assert not np.array_equal(bootstrap(battles, 100, 5, kind=kind).lower, before.lower)


def test_who_is_unbeaten_in_many_resamples_has_no_upper_bound():
    inner, _truth = league(5, 500, 2)
    left, right, score = [*inner.left, *[5] * 10], [*inner.right, *[0, 1, 2, 3, 4] * 2], [*inner.score, *[1] * 9, 0]
    found = bootstrap(Battles(left, right, score, names(6)), 300)

    assert found.upper[5] == np.inf
    assert np.isfinite(found.lower).all()
    assert np.isfinite(found.upper[:5]).all()


def test_who_has_no_rating_has_no_interval():
    battles = rows(("a", "b", 1), ("a", "b", 0), ("c", "a", 1))

    for found in (sandwich(battles), bootstrap(battles, 50)):
        assert np.isnan([found.lower[2], found.upper[2], found.errors[2]]).all()
        assert not np.isnan(found.lower[:2]).any()
    apart = rows(("a", "b", 1), ("a", "b", 0), ("c", "d", 1), ("c", "d", 0))
    assert np.isnan(sandwich(apart).covariance[0, 2]), "nothing is said of differences between components"


def test_an_exact_anchor_has_no_width():
    battles, _truth = league(5, 500, 3)
    anchors = {"c000": 1100.0, "c002": 900.0}

    for found in (sandwich(battles, anchors=anchors), bootstrap(battles, 200, anchors=anchors)):
        assert found.lower[[0, 2]] == pytest.approx([1100, 900])
        assert found.upper[[0, 2]] == pytest.approx([1100, 900])
        assert (found.upper - found.lower)[[1, 3, 4]].min() > 10


def test_one_uncertain_anchor_widens_everybody_by_its_error():
    battles, _truth = league(4, 500, 3)
    exact = sandwich(battles, anchors={"c000": 1000.0})
    loose = sandwich(battles, anchors={"c000": 1000.0}, errors={"c000": 30.0})

    assert loose.errors**2 == pytest.approx(exact.errors**2 + 900)
    assert bootstrap(battles, 2000, anchors={"c000": 1000.0}, errors={"c000": 30.0}).errors == pytest.approx(
        loose.errors, rel=0.1
    )


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


def test_clusters_of_one_battle_change_nothing_and_doubled_battles_widen():
    battles, _truth = league(6, 400, 2, ties=0.2)
    twice = Battles(*(np.tile(side, 2) for side in (battles.left, battles.right, battles.score)), battles.contestants)
    once = sandwich(battles)

    assert sandwich(battles, clusters=np.arange(400)[::-1]).errors == pytest.approx(once.errors)
    assert sandwich(twice).errors == pytest.approx(once.errors / np.sqrt(2))
    assert sandwich(twice, clusters=np.tile(np.arange(400), 2)).errors == pytest.approx(once.errors)


def test_many_clusters_are_summed_in_portions(monkeypatch):
    battles, _truth = league(6, 400, 2)
    clusters = np.random.default_rng(0).integers(0, 90, 400)
    whole = sandwich(battles, clusters=clusters).errors
    monkeypatch.setattr("leaderboard.ratings.clusters.MOST_AT_ONCE", 6 * 7)

    assert sandwich(battles, clusters=clusters).errors == pytest.approx(whole)


@each_case("errors", [{"c001": 3.0}, {"c000": -1.0}, np.zeros((2, 2))])
def test_errors_that_are_not_the_anchors_are_refused(errors):
    with pytest.raises(ValueError, match="anchors"):
        sandwich(league(3, 50)[0], anchors={"c000": 1000.0}, errors=errors)


def test_fractions_are_weighed_but_not_drawn():
    table = tally(league(4, 100)[0])
    halved = Table(table.wins / 3, table.ties, table.contestants)

    assert np.isfinite(bootstrap(halved, 20, kind="bayesian").lower).all()
    with pytest.raises(ValueError, match="bayesian"):
        bootstrap(halved, 20)


def parted(bridges):
    """Two pairs that met often, and each other so many times."""
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[1, 0] = wins[2, 3] = wins[3, 2] = 40.0
    wins[1, 2] = wins[2, 1] = bridges
    return Table(wins, np.zeros((4, 4)), ("a", "b", "c", "d"))


def test_two_groups_that_two_battles_link_may_be_any_distance_apart():
    """One in seven resamples has neither of the two, half of them only one side's."""
    linked = bootstrap(parted(1.0), 400)
    held = bootstrap(parted(0.0), 50, anchors={"a": 1000, "d": 1000})
    tied = bootstrap(rows(("a", "b", 0.5), ("a", "b", 0.5)), 50)

    assert linked.upper.tolist() == [np.inf] * 4
    assert linked.lower.tolist() == [-np.inf] * 4
    assert np.isfinite([held.lower, held.upper]).all(), "groups that an anchor each holds are linked"
    assert tied.lower.tolist() == [1000, 1000], "two who only tied are equal in every resample"


@pytest.mark.parametrize(
    "leagues", [40, pytest.param(LEAGUES, marks=pytest.mark.exhaustive)], ids=["few leagues", "many leagues"]
)
@pytest.mark.parametrize("kind", ["sandwich", "multinomial", "bayesian"])
def test_intervals_of_many_leagues_cover_the_truth(kind, leagues):
    found = []
    for battles, truth in (league(5, 400, seed) for seed in range(leagues)):
        rated = sandwich(battles) if kind == "sandwich" else bootstrap(battles, 100, seed=7, kind=kind)
        found.append(covered(rated, truth))

    assert (0.93 if leagues == LEAGUES else 0.9) <= share(found) <= (0.97 if leagues == LEAGUES else 0.99)
