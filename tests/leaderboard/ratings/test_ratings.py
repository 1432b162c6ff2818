"""Maximum-likelihood ratings, Elo, ranks with what is known of them, and bounds of who won or lost every battle."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings import (
    Battles,
    Reason,
    Shared,
    batch_elo,
    bootstrap,
    by_items,
    fit,
    ranks,
    sandwich,
    sequential_elo,
    tally,
)
from leaderboard.ratings.intervals import as_wide_as
from tests.leaderboard.ratings.leagues import distance_to_maximum, league, names, rows

CLOSE = 1e-6


def test_ratings_are_at_the_maximum_of_the_likelihood():
    for count, size in ((3, 60), (20, 10_000), (100, 100_000)):
        battles, _truth = league(count, size, ties=0.2)
        assert distance_to_maximum(battles, fit(battles).values) < CLOSE, count


def test_whoever_never_battled_lost_or_won_has_a_reason_and_the_others_have_their_ratings():
    ratings = fit(rows(("a", "b", 0.5), contestants=["a", "b", "c"]))
    chain = fit(rows(("a", "b", 1), ("b", "c", 1)))

    assert ratings.values == pytest.approx([1000, 1000, math.nan], nan_ok=True)
    assert ratings.reasons[2] is Reason.NO_BATTLES
    assert ratings.components == (("a", "b"), ("c",))
    assert np.isnan(chain.values).all()
    assert chain.reasons == (Reason.UNDEFEATED, Reason.UNLINKED, Reason.WINLESS)
    assert fit(Battles([], [], [], [])).values.size == 0

    inner, _truth = league(6, 300, 1)
    left, right = [*inner.left, 6, 6, 0, 1], [*inner.right, 0, 3, 7, 7]
    ratings = fit(Battles(left, right, [*inner.score, 1, 1, 1, 1], names(8)))

    assert ratings.values[:6] == pytest.approx(fit(inner).values, abs=CLOSE)
    assert np.isnan(ratings.values[6:]).all()
    assert ratings.reasons == (None,) * 6 + (Reason.UNDEFEATED, Reason.WINLESS)
    assert len(ratings.components) == 1


def test_two_components_have_each_a_mean_of_a_thousand():
    first, _truth = league(5, 300, 1)
    second, _truth = league(4, 200, 2)
    left, right = [*first.left, *(second.left + 5)], [*first.right, *(second.right + 5)]
    both = Battles(left, right, [*first.score, *second.score], names(9))
    ratings = fit(both)

    assert ratings.components == (tuple(names(9)[:5]), tuple(names(9)[5:]))
    assert ratings.component_of.tolist() == [0] * 5 + [1] * 4
    assert ratings.values[:5] == pytest.approx(fit(first).values, abs=CLOSE)
    assert ratings.values[5:] == pytest.approx(fit(second).values, abs=CLOSE)


def test_anchors_stay_the_others_are_fitted_to_them_and_components_that_never_met_are_joined():
    battles, _truth = league(6, 600, 3)
    free = fit(battles)
    same = fit(battles, anchors={"c001": free["c001"], "c004": free["c004"]})
    moved = fit(battles, anchors={"c001": free["c001"] + 500})

    assert same.values == pytest.approx(free.values, abs=CLOSE)
    assert moved.values == pytest.approx(free.values + 500, abs=CLOSE)
    assert same["c004"] == free["c004"]

    ratings = fit(rows(("a", "x", 0.5), ("b", "y", 0.5)), anchors={"a": 1200, "b": 900})
    unbeaten = fit(rows(("x", "a", 1)), anchors={"a": 1200})

    assert ratings.values == pytest.approx([1200, 900, 1200, 900], abs=CLOSE)
    assert ratings.components == (("a", "b", "x", "y"),)
    assert unbeaten.values == pytest.approx([1200, math.nan], nan_ok=True)
    assert unbeaten.reasons == (None, Reason.UNDEFEATED)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_sequence_of_rows_and_of_contestants_changes_nothing_at_all(seed, random):
    battles, _truth = league(6, 25, seed, ties=0.2)
    order, seats = list(range(25)), list(range(6))
    random.shuffle(order)
    random.shuffle(seats)
    contestants = [battles.contestants[seats.index(place)] for place in range(6)]
    left, right = (np.array(seats)[side[order]] for side in (battles.left, battles.right))
    moved = Battles(left, right, battles.score[order], contestants)
    before, after = fit(battles), fit(moved)

    assert np.array_equal(after.values[seats], before.values, equal_nan=True)
    assert tuple(after.reasons[seat] for seat in seats) == before.reasons
    assert after.components == before.components


def test_the_table_counts_wins_and_ties_and_battles_and_anchors_that_make_no_sense_are_refused():
    table = tally(rows(("a", "b", 1), ("b", "a", 0), ("b", "a", 0.5), ("b", "a", 1)))

    assert table.wins.tolist() == [[0, 2], [1, 0]]
    assert table.ties.tolist() == [[0, 1], [1, 0]]
    assert table.points.tolist() == [[0, 2.5], [1.5, 0]]

    for left, right, score in (
        *(([0], [0], [1]), ([0], [2], [1]), ([-1], [0], [1])),
        *(([0], [1], [0.7]), ([0], [1], [math.nan]), ([0], [1], [1, 1])),
    ):
        with pytest.raises(ValueError, match=r"contestant|score"):
            Battles(left, right, score, ["a", "b"])
    with pytest.raises(ValueError, match="twice"):
        Battles([0], [1], [1], ["a", "a"])
    for anchors in ({"nobody": 1000}, {"a": math.inf}, {"a": math.nan}):
        with pytest.raises(ValueError, match="anchor"):
            fit(rows(("a", "b", 0.5)), anchors=anchors)


def test_elo_moves_half_of_k_between_equals_less_to_the_favourite_and_by_the_mean_of_many_no_more():
    """Elo's table: 200 points are an expected score of .76; the favourite gains .24 · k."""
    favourite = sequential_elo(rows(("a", "b", 1)), k=10, previous={"a": 1200, "b": 1000})
    forth = rows(("a", "b", 0.5), ("a", "c", 0.5), ("b", "c", 1))
    back = Battles(forth.left[::-1], forth.right[::-1], forth.score[::-1], forth.contestants)

    assert sequential_elo(rows(("a", "b", 1)), k=32).values.tolist() == [1016, 984]
    assert favourite.values[0] == pytest.approx(1200 + 10 * (1 - 1 / (1 + 10**-0.5)))
    assert sequential_elo(forth).values.tolist() != sequential_elo(back).values.tolist(), "the sequence matters"

    many = batch_elo(rows(*[("a", other, 1) for other in "bcdef"]), weight="mean")

    assert many.values.tolist() == [1016, *[984] * 5]
    assert many.battles.tolist() == [5, 1, 1, 1, 1, 1]

    battles = rows(("a", "b", 1), contestants=["a", "b", "c", "d"])

    for found in (sequential_elo(battles, previous={"d": 1111}), batch_elo(battles, previous={"d": 1111})):
        assert found.values[2:].tolist() == pytest.approx([math.nan, 1111], nan_ok=True)


def test_the_examples_of_the_page_on_ratings_run(capsys):
    page = (Path(__file__).parents[3] / "docs" / "ratings.md").read_text(encoding="utf-8")
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(example, "docs/ratings.md", "exec"), {})

    assert "bradley_terry" in capsys.readouterr().out


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
