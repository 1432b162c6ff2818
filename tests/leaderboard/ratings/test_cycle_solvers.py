"""Boards of solvers: MatrixArena's Elo in its order, and those that know no order and reward no judge for its votes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings import sandwich
from leaderboard.ratings.cycles import (
    Cycle,
    Vote,
    battles_of,
    compatible_elo,
    matches,
    replay,
    solver_elo,
    solver_ratings,
    table_of_votes,
)
from leaderboard.ratings.values import Reason
from tests.leaderboard.ratings.coding_cycles import any_cycle, as_stated, cycle, league, shuffled
from tests.leaderboard.ratings.leagues import distance_to_maximum

several = st.lists(any_cycle(), max_size=5)


def test_elo_of_solvers_by_hand_is_of_the_mean_over_the_judges_who_saw_both():
    """A beats both others before the one judge of each pair, B ties in wins: 32 · (0.5, 0, -0.5)."""
    found = solver_elo([cycle("CAB", {"A": 8, "B": 5, "C": 2})])

    assert found.ratings == {"C": 1184, "A": 1216, "B": 1200}
    assert found.snapshots[0].changes == {"C": -16, "A": 16, "B": 0}
    assert found.snapshots[0].played == {"C": 1, "A": 1, "B": 1}

    given = {("a", "c"): 9, ("b", "c"): 4, ("a", "d"): 6, ("b", "d"): 6}  # of c and d, one prefers a
    found = solver_elo([cycle("abcd", given)])

    assert found.ratings == {"a": 1208, "b": 1192, "c": 1200, "d": 1200}
    assert found.snapshots[0].played == {"a": 1, "b": 1, "c": 0, "d": 0}


@settings(max_examples=25)
@given(several, st.integers(0, 10**6))
def test_the_order_of_contestants_and_votes_changes_nothing(cycles, seed):
    moved = [shuffled(one, seed) for one in cycles]
    elo, (one, other) = solver_elo(cycles).ratings, map(solver_ratings, (cycles, moved))

    assert solver_elo(moved).ratings == elo
    assert sum(elo.values()) == pytest.approx(1200 * len(elo))
    assert one.intervals.ratings.contestants == other.intervals.ratings.contestants
    assert one.no_interval == other.no_interval
    for part in ("lower", "upper", "errors", "covariance"):
        assert np.array_equal(getattr(one.intervals, part), getattr(other.intervals, part), equal_nan=True)


@pytest.mark.parametrize("leagues", [40, pytest.param(300, marks=pytest.mark.exhaustive)])
def test_intervals_from_few_cycles_hold_as_often_as_they_say(leagues):
    """Votes of one cycle share what happened in it: five cycles, against the rating in many."""
    truth = solver_ratings(league(4, 1000 if leagues < 300 else 4000, seed=99)).intervals.ratings.values
    held, plain = [], []
    for seed in range(leagues):
        cycles = league(4, 5, seed=seed)
        found, compared = solver_ratings(cycles).intervals, battles_of(cycles)
        known = ~np.isnan(found.errors)
        naive = sandwich(compared.battles)
        held += ((found.lower <= truth) & (truth <= found.upper))[known].tolist()
        plain += ((naive.lower <= truth) & (truth <= naive.upper))[known].tolist()

    assert 0.92 < np.mean(held) < 0.98
    assert np.mean(plain) < 0.85


def test_a_judge_that_lowballs_all_others_changes_no_rating_at_all():
    """On the compatible board the same votes lift it."""
    honest = league(5, 8, seed=3)
    lowball = [
        Cycle(
            one.contestants,
            one.setter,
            tuple(Vote(v.solver, v.judge, v.overall / 4 if v.judge == "c2" else v.overall) for v in one.votes),
        )
        for one in honest
    ]

    assert compatible_elo(lowball).ratings["c2"] > compatible_elo(honest).ratings["c2"] + 10
    assert solver_elo(lowball).ratings == solver_elo(honest).ratings
    before, after = solver_ratings(honest).intervals, solver_ratings(lowball).intervals
    assert np.array_equal(before.ratings.values, after.ratings.values)
    assert np.array_equal(before.errors, after.errors)


def test_battles_are_what_each_judge_gave_to_two_solvers_above_the_quorum():
    given = {("a", "c"): 9, ("b", "c"): 4, ("a", "b"): 1, ("b", "a"): 2, ("c", "a"): 2.0000000001, ("c", "b"): 3}
    found = battles_of([cycle("cab", given), cycle("ab", {"a": 1, "b": 9})])
    rows = {
        (found.battles.contestants[left], found.battles.contestants[right], score)
        for left, right, score in zip(found.battles.left, found.battles.right, found.battles.score, strict=True)
    }

    assert rows == {("a", "b", 1), ("a", "c", 0), ("b", "c", 0.5)}  # a judge of its own cannot compare itself
    assert found.cycle.tolist() == [0, 0, 0]

    given = {("a", "c"): 9, ("b", "c"): 4, ("a", "d"): 9, ("b", "d"): 6, ("c", "d"): 1}

    assert len(battles_of([cycle("abcd", given)], quorum=1).battles) == 4
    assert len(battles_of([cycle("abcd", given)], quorum=2).battles) == 2
    names, table = table_of_votes(cycle("abcd", given), quorum=2)
    assert np.isnan(table).all(axis=0).tolist() == [name in "cd" for name in names]
    assert solver_elo([cycle("abcd", given)], quorum=2).snapshots[0].played == {"a": 1, "b": 1, "c": 0, "d": 0}


def test_ratings_are_the_likeliest_and_errors_those_of_cycles():
    """The sandwich written out: scores summed by cycle, g / (g - 1), and t instead of 1.96."""
    cycles = league(4, 9, seed=1)
    found, compared = solver_ratings(cycles), battles_of(cycles)
    plain = sandwich(compared.battles, clusters=compared.cycle)

    assert distance_to_maximum(compared.battles, found.intervals.ratings.values) < 1e-6
    assert found.cycles.tolist() == [9] * 4
    errors = plain.errors * math.sqrt(9 / 8)
    reach = (found.intervals.upper - found.intervals.lower) / 2
    assert reach == pytest.approx(2.306004 * errors)
    assert reach == pytest.approx(1.959964 * found.intervals.errors)
    assert found.wins.sum() + found.ties.sum() / 2 == len(compared.battles)
    assert found.battles.sum() == 2 * len(compared.battles)


def test_who_is_undefeated_never_compared_or_rated_from_one_cycle_has_a_reason_and_no_figure():
    cycles = [
        cycle("abcdn", {("a", "d"): 9, ("b", "d"): low, ("c", "d"): high, ("n", "a"): 4})
        for low, high in ((4, 6), (6, 4), (5, 3))
    ]
    found = solver_ratings(cycles)
    names = found.intervals.ratings.contestants
    reasons, wins = dict(zip(names, found.no_interval, strict=True)), dict(zip(names, found.wins, strict=True))

    assert (wins["a"], wins["b"], wins["c"], found.ties.sum()) == (6, 2, 1, 0)
    assert reasons["a"] == Reason.UNDEFEATED
    assert reasons["n"] == Reason.NO_BATTLES
    assert reasons["b"] is None
    assert found.intervals.ratings["b"] > found.intervals.ratings["c"]

    found, tied = solver_ratings(league(4, 1, seed=4)), solver_ratings([cycle("abc", {"a": 7, "b": 7, "c": 7})] * 3)
    rated = ~np.isnan(found.intervals.ratings.values)

    assert rated.any()
    assert np.isnan(found.intervals.errors).all()
    assert np.isnan(found.intervals.covariance).all()
    assert {reason for reason, has in zip(found.no_interval, rated, strict=True) if has} == {Reason.TOO_FEW_UNITS}
    assert tied.intervals.ratings.values == pytest.approx([1000] * 3)
    assert tied.no_interval == (Reason.NO_SPREAD,) * 3
    assert np.isnan(tied.intervals.lower).all()
    assert tied.ties.tolist() == [6, 6, 6]


def test_a_replay_says_of_each_cycle_what_pages_show_also_of_three_perfect_solutions():
    """What is known of the original: 1195.1, 1200.0 and 1204.9."""
    found = compatible_elo([cycle("xyz", {"x": 10, "y": 10, "z": 10})], setter_k=0)

    assert {name: round(rating, 1) for name, rating in found.ratings.items()} == {"x": 1195.1, "y": 1200.0, "z": 1204.9}
    assert found.snapshots[0].played == {"x": 6, "y": 5, "z": 5}  # the setter once more with each of the others

    cycles = [cycle("abc", {"a": 9, "b": 6, "c": 6}, setter="c"), cycle("abc", {})]
    first, second = replay(cycles)

    assert (first.scores, first.overall) == ({"a": 9, "b": 6, "c": 6}, 7)
    assert first.calibration == pytest.approx(0.6)
    assert (second.scores, second.overall, second.calibration) == ({}, None, None)
    assert first.compatible == compatible_elo(cycles).snapshots[0]
    assert second.solvers.ratings == first.solvers.ratings


@settings(max_examples=60)
@given(st.lists(any_cycle(), max_size=6))
def test_every_rating_is_what_the_stated_order_gives(cycles):
    """Also where judges failed, all of them or some; the sum of ratings is kept."""
    found = compatible_elo(cycles)

    assert found.ratings == pytest.approx(as_stated(cycles))
    for snapshot in found.snapshots:
        assert sum(snapshot.ratings.values()) == pytest.approx(1200 * len(snapshot.ratings))
        assert sum(snapshot.changes.values()) == pytest.approx(0, abs=1e-9)


def test_the_matches_of_a_cycle_lead_from_the_ratings_before_to_those_after():
    found = matches(cycle("abc", {("a", "b"): 9, ("a", "c"): 7, ("b", "a"): 1}), {}, quorum=2)

    assert [match.name for match in found if match.role == "solver"] == ["a", "a"]
    assert [match.score for match in found if match.role == "setter"] == [pytest.approx(0.4)] * 2  # overall 8

    cycles = league(4, 5)
    found = compatible_elo(cycles)
    before, after = found.snapshots[3].ratings, dict(found.snapshots[3].ratings)

    for match in matches(cycles[4], before):
        after[match.name] += match.change
        after[match.opponent] -= match.change

    assert after == pytest.approx(dict(found.ratings))
