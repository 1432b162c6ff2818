"""The maximum-likelihood ratings, to a millionth of a point and nothing where there are none; and Elo."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings import Battles, Reason, batch_elo, fit, sequential_elo, tally
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
