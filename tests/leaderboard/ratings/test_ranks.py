"""Ranks with what is known of them, and bounds of those that won, or lost, every battle with the rated."""

import math

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Shared, bootstrap, by_items, ranks, sandwich, tally
from leaderboard.ratings.intervals import as_wide_as
from tests.leaderboard.ratings.leagues import league, rows

EVEN = [("a", "b", 1), ("a", "b", 0)] * 20
CIRCLE = [("a", "b", 1), ("b", "c", 1), ("c", "a", 1)] * 12


def test_contestants_who_cannot_be_told_apart_are_one_group_and_ranks_can_be_made_of_a_bootstrap():
    even = sandwich(rows(*[("a", "b", score) for score in (1, 0)] * 20, *[("a", "c", s) for s in [1] * 39 + [0]]))
    found = ranks(even)
    apart = ranks(sandwich(rows(("a", "b", 1), ("a", "b", 0), ("c", "d", 1), ("c", "d", 0))))

    assert found.group.tolist() == [1, 1, 2]
    assert (found.best.tolist(), found.worst.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert found.rank.tolist() == [1, 1, 3]
    assert apart.rank.tolist() == [1, 1, 1, 1], "each component has ranks of its own"
    assert apart.first.tolist() == pytest.approx([0.5] * 4, abs=0.02)

    battles, _truth = league(5, 2000, 1)
    by_bootstrap, by_sandwich = ranks(bootstrap(battles)), ranks(sandwich(battles))

    assert by_bootstrap.rank.tolist() == by_sandwich.rank.tolist()
    assert by_bootstrap.first == pytest.approx(by_sandwich.first, abs=0.05)
    assert by_sandwich.first.sum() == pytest.approx(1)
    assert np.argmax(by_sandwich.first) == np.argmin(by_sandwich.rank)


def test_who_may_be_first_is_drawn_as_if_nobody_had_been_left_out_for_being_far_below():
    intervals = sandwich(league(30, 6_000)[0])
    values, (sizes, axes) = intervals.ratings.values, np.linalg.eigh(intervals.covariance)
    lots = np.random.default_rng(7).standard_normal((2_000, 30))
    drawn = values + lots @ (axes * np.sqrt(np.maximum(sizes, 0.0))).T

    first = ranks(intervals, draws=2_000, seed=7).first

    assert first.tolist() == (np.bincount(np.argmax(drawn, axis=1), minlength=30) / 2_000).tolist()
    assert np.ptp(values) > 300


def test_who_won_everything_is_first_with_a_rank_interval_that_follows_from_the_bound():
    """Ten wins against one of two equals are a bound above both; five are none, by chance one in 32."""
    for wins, places in ((5, [(1, 3), (1, 3), (1, 3)]), (10, [(1, 1), (2, 3), (2, 3)])):
        up, down = (ranks(sandwich(rows(*EVEN, *[("c", "a", score)] * wins))) for score in (1, 0))

        assert up.rank.tolist() == [2, 2, 1]
        assert list(zip(up.best[[2, 0, 1]], up.worst[[2, 0, 1]], strict=True)) == places
        assert np.isnan(up.first).all()
        assert down.rank.tolist() == [1, 1, 3]
        assert list(zip(4 - down.worst[[2, 0, 1]], 4 - down.best[[2, 0, 1]], strict=True)) == places


def test_who_won_everything_shares_the_first_place_and_wins_without_a_loss_order_the_unrated():
    found = ranks(sandwich(rows(*EVEN, *[("c", "a", 1), ("d", "b", 1)] * 20)))

    assert found.rank.tolist() == [3, 3, 1, 1]
    assert list(zip(found.best, found.worst, strict=True)) == [(3, 4), (3, 4), (1, 2), (1, 2)]

    found = ranks(sandwich(rows(*[("a", "b", 1), ("b", "c", 1)] * 6)))

    assert found.rank.tolist() == [1, 2, 3]
    assert list(zip(found.best, found.worst, strict=True)) == [(1, 2), (2, 2), (2, 3)]


def test_a_group_that_never_lost_is_above_the_rated_and_who_only_beat_the_winless_above_nobody():
    rated = [(one, other, score) for one, other in ("ab", "bc", "ca") for score in (1, 0)]
    intervals = sandwich(rows(*rated, ("x", "y", 1), ("x", "y", 0), *[("x", "a", 1), ("y", "b", 1)] * 2))
    found = ranks(intervals)

    assert intervals.ratings.reasons == (None,) * 3 + (Reason.ABOVE,) * 2
    assert found.rank.tolist() == [3, 3, 3, 1, 1]
    assert np.isnan(found.first).all()

    intervals = sandwich(rows(*EVEN, *[("c", "d", 1), ("a", "d", 1)] * 9))
    found = ranks(intervals)

    assert found.rank.tolist() == pytest.approx([1, 1, math.nan, 3], nan_ok=True)
    assert intervals.ratings.reasons[2:] == (Reason.UNLINKED, Reason.WINLESS)
    assert found.first[:2].sum() == pytest.approx(1)


def test_one_battle_makes_no_newcomer_first_or_last_and_those_of_whom_too_little_is_known_take_no_place():
    for found in (
        *(ranks(sandwich(rows(*EVEN, ("c", "a", score)))) for score in (1, 0)),
        ranks(sandwich(rows(*EVEN, *[("c", "a", 1)] * 3)), is_known=[True, True, False]),
    ):
        assert found.rank.tolist() == pytest.approx([1, 1, math.nan], nan_ok=True)
        assert (found.best[:2].tolist(), found.worst[:2].tolist()) == ([1, 1], [2, 2])
        assert found.first[:2].sum() == pytest.approx(1)


def test_at_the_bound_all_battles_come_out_alike_with_a_probability_of_one_in_forty():
    inner, _truth = league(4, 400, 1)
    left, right = [*inner.left, *[4] * 30], [*inner.right, *[0, 1, 1, 2, 3] * 6]
    for score, side in ((1, "lower"), (0, "upper")):
        found = sandwich(Battles(left, right, [*inner.score, *[score] * 30], [*inner.contestants, "new"]))
        bound = getattr(found.one_sided, side)[4]
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

    many, few = (tally(rows(*CIRCLE, *[("new", name, 1) for name in "abc"] * n)) for n in (12, 6))
    widened = as_wide_as(many, [2**0.5] * 4).one_sided.lower[3]  # without items, of intervals that much wider
    assert widened == pytest.approx(sandwich(few).one_sided.lower[3])
