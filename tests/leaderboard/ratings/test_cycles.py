"""Coding cycles: what one may hold, judges and setters worked out by hand, and the boards of solvers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ratings import sandwich
from leaderboard.ratings.agreement import krippendorff_alpha
from leaderboard.ratings.cycles import (
    Cycle,
    Vote,
    battles_of,
    calibration,
    compatible_elo,
    matches,
    overall,
    replay,
    scores,
    solver_elo,
    solver_ratings,
    table_of_votes,
)
from leaderboard.ratings.judging import judging, setters
from leaderboard.ratings.statistics import Estimate, jackknifed, mean_estimate, pearson
from leaderboard.ratings.values import Reason, Undefined
from tests.leaderboard.ratings.coding_cycles import any_cycle, as_stated, cycle, league, shuffled
from tests.leaderboard.ratings.leagues import distance_to_maximum, holds

GIVEN = {
    "a": {"b": 8, "c": 6, "d": 7},
    "b": {"a": 5, "c": 4, "d": 6},
    "c": {"a": 3, "b": 4, "d": 2},
    "d": {"a": 9, "b": 9},
}
TABLE = {(solver, judge): vote for solver, votes in GIVEN.items() for judge, vote in votes.items()}


def of(name, found):
    return next(judge for judge in found.judges if judge.name == name)


def test_severity_is_what_a_judge_gives_less_than_the_others():
    """c gave 6 where others mean 7.5, and 4 where they mean 5.5: 1.5 points less each time."""
    found = judging([cycle("abcd", TABLE)])

    assert of("c", found).severity.value == pytest.approx(1.5)
    assert of("b", found).severity.value == pytest.approx((6.5 - 8 + 2.5 - 4 + 9 - 9) / 3)
    assert (of("c", found).votes, of("c", found).cycles, of("b", found).votes) == (2, 1, 3)
    assert of("b", found).mean.value == 7
    assert of("b", found).spread == pytest.approx(7**0.5)
    assert (found.votes, found.solutions) == (11, 4)
    for figure in (found.alpha, of("b", found).severity, of("b", found).consensus):
        assert figure.interval == Undefined(Reason.TOO_FEW_UNITS), "of one cycle"


def test_a_cycle_is_one_observation_and_the_interval_of_a_correlation_stays_within_one():
    """Two cycles with differences 1, 3 and 0, 0: mean 1, sums about it 2 and -2, error √(2 · 8) / 4 = 1."""
    rows = [{("a", "j"): 4, ("a", "o"): 5, ("b", "j"): 2, ("b", "o"): 5}, {"a": 6, "b": 6}]
    found = of("j", judging([cycle("abjo", row) for row in rows]))

    assert found.severity.value == pytest.approx(1)
    assert found.severity.interval == pytest.approx((1 - 12.706205, 1 + 12.706205))
    assert (found.severity.units, found.severity.clusters) == (4, 2)

    x, alike = np.array([1.0, 2, 3, 4, 5, 6]), np.array([1.0, 2, 3, 5, 5, 5])
    y = np.array([1.0, 2, 3, 4, 5, 7])
    low, high = jackknifed(lambda kept: pearson(x[kept], y[kept]), np.arange(6), is_correlation=True).interval
    clusters = np.array([0, 0, 0, 1, 1, 1])
    one = jackknifed(lambda kept: pearson(alike[kept], alike[kept]), clusters, is_correlation=True)

    assert -1 < low < pearson(x, y) < high < 1
    assert one.value == pytest.approx(1)
    assert one.interval == Undefined(Reason.RESTS_ON_ONE)


def test_votes_are_held_against_what_the_sandbox_saw_and_against_each_other():
    """a ranks b, c, d as 5, 3, 9; the sandbox as 0.5, 0.9, 0.1: exactly the other way round but for one pair."""
    found = judging([cycle("abcd", TABLE, passed={"a": 1.0, "b": 0.5, "c": 0.9, "d": 0.1})])

    assert of("a", found).passed.value == pytest.approx(-1)
    assert of("d", found).passed.value == pytest.approx(0.5)  # votes 7, 6, 2 and shares 1.0, 0.5, 0.9
    assert found.consensus.value == pytest.approx(-0.4)  # means 7, 5, 3, 9 and shares 1.0, 0.5, 0.9, 0.1

    x = np.nan
    table = [[x, 5, 3, 9], [8, x, 4, 9], [6, 4, x, x], [7, 6, 2, x]]

    judged = judging([cycle("abcd", TABLE)])

    assert judged.alpha.value == pytest.approx(krippendorff_alpha(table, "interval"))
    assert (judged.alpha.units, judged.alpha.clusters) == (4, 1)
    found = of("b", judged)
    assert found.consensus.value == pytest.approx(np.corrcoef([8, 4, 9], [6.5, 2.5, 9])[0, 1])
    assert found.consensus_ranks.value == pytest.approx(1)


def test_what_does_not_exist_has_a_reason_and_is_never_nought():
    constant = judging([cycle("abcd", dict.fromkeys("abcd", 7), passed=dict.fromkeys("abcd", 1.0))])
    alone = judging([cycle("abc", {("a", "b"): 3})])

    a, b = of("a", constant), of("b", alone)
    assert constant.alpha.value == constant.consensus.value == a.consensus.value == Undefined(Reason.CONSTANT)
    assert (a.spread, b.spread) == (0, Undefined(Reason.TOO_FEW_UNITS))
    assert alone.alpha.value == b.severity.value == b.consensus.value == Undefined(Reason.NOTHING_PAIRED)
    assert alone.consensus.value == b.passed.value == Undefined(Reason.NOTHING_RUN)

    found = of("c", judging([cycle("abc", {("a", "b"): 3, ("b", "a"): 4})]))

    assert (found.votes, found.cycles) == (0, 0)
    assert found.mean == Estimate(Undefined(Reason.NO_VOTES), Undefined(Reason.NO_VOTES), 0, 0)
    assert found.spread == Undefined(Reason.NO_VOTES)


def test_a_mean_has_the_usual_error_and_beyond_fifty_clusters_several_are_left_out_at_a_time():
    values = np.array([1.0, 2.0, 4.0, 5.0])
    found = mean_estimate(values, np.arange(4), empty=Reason.NO_VOTES)

    assert found.value == 3
    assert found.interval == pytest.approx((3 - 3.1824463 * (10 / 12) ** 0.5, 3 + 3.1824463 * (10 / 12) ** 0.5))
    jackknife = jackknifed(lambda kept: float(values[kept].mean()), np.arange(4))
    assert jackknife == Estimate(3.0, pytest.approx(found.interval), 4, 4)

    values, asked = np.random.default_rng(1).normal(size=400), []
    found = jackknifed(lambda kept: asked.append(kept.sum()) or float(values[kept].mean()), np.arange(400))

    assert len(asked) == 51
    usual = mean_estimate(values, np.arange(400), empty=Reason.NO_VOTES).interval
    assert found.interval == pytest.approx(usual, abs=0.05)


def problems(*levels, setter="a"):
    return [cycle("abc", {"a": level, "b": level, "c": level}, setter=setter) for level in levels]


def test_the_mean_of_three_problems_by_hand_and_a_vote_for_the_own_one_is_seen_through():
    """5, 7 and 6 are calibrations of 1, 0.6 and 0.8: mean 0.8, s 0.2, t 4.303, so 0.8 ± 0.497, cut at 1."""
    (found,) = setters(problems(5, 7, 6))

    assert (found.name, found.problems, found.scored) == ("a", 3, 3)
    assert found.calibration.value == pytest.approx(0.8)
    assert found.calibration.interval == (pytest.approx(0.8 - 4.302653 * 0.2 / 3**0.5), 1.0)
    assert found.overall.value == pytest.approx(6)
    assert found.overall.interval == pytest.approx((6 - 4.302653 / 3**0.5, 6 + 4.302653 / 3**0.5))
    assert (found.overall.units, found.overall.clusters) == (3, 3)

    pairs = [(solver, judge) for solver in "abc" for judge in "abc" if solver != judge]
    (found,) = setters([cycle("abc", {(s, j): 0 if j == "a" else 10 for s, j in pairs})])

    assert found.calibration.value == pytest.approx(2 / 3)
    assert found.by_others.value == 0


def test_the_sandbox_says_how_hard_it_was_and_who_never_set_what_could_be_played_is_without_figures():
    passed = {"a": 1.0, "b": 0.25, "c": 0.75}
    (found,) = setters([cycle("abc", {"b": 5}, passed=passed), cycle("abc", {"b": 5}, passed={"b": 0.0})])

    assert found.passed.value == 0.25
    assert setters(problems(5))[0].passed.value == Undefined(Reason.NOTHING_RUN)

    found, other = setters(problems(5), others={"b", "a"})

    assert (found.name, found.problems) == ("a", 1)
    assert (other.name, other.problems, other.scored) == ("b", 0, 0)
    assert other.calibration.value == other.overall.value == Undefined(Reason.NO_VOTES)
    assert other.passed.value == Undefined(Reason.NOTHING_RUN)


def test_a_cycle_and_a_vote_that_cannot_have_been_are_refused():
    for complaint, *made in (
        *(("two contestants", ("a",), "a"), ("two contestants", (), "a"), ("named once", ("a", "b", "a"), "a")),
        *(("setter c is not", "ab", "c"), ("votes once", "ab", "a", (Vote("a", "b", 5), Vote("a", "b", 6)))),
        *(("not contestants: x", "ab", "a", (Vote(*pair, 5),)) for pair in ("ax", "xa")),
        ("not contestants: x", "ab", "a", (), {"x": 1.0}),
        *(("from 0 to 1", "ab", "a", (), {"a": share}) for share in (1.1, math.nan)),
    ):
        with pytest.raises(ValueError, match=complaint):
            Cycle(*made)
    with pytest.raises(ValueError, match="its own solution"):
        Vote("a", "a", 10)
    for vote in (math.nan, math.inf, -math.inf, -0.001, 10.001):
        with pytest.raises(ValueError, match="from 0 to 10"):
            Vote("a", "b", vote)


def test_a_score_is_the_mean_of_the_votes_where_there_is_a_quorum_and_the_overall_the_mean_of_scores():
    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4, ("c", "a"): 0, ("c", "b"): 0})

    assert scores(found) == {"a": 7, "b": 4, "c": 0}
    assert overall(found) == pytest.approx((7 + 4 + 0) / 3)  # of solvers, not of votes: b's one vote counts as much
    assert overall(cycle("abc", {})) is None

    found = cycle("abc", {("a", "b"): 8, ("a", "c"): 6, ("b", "a"): 4})

    assert scores(found, quorum=2) == {"a": 7}
    assert overall(found, quorum=2) == 7
    assert overall(found, quorum=3) is None
    with pytest.raises(ValueError, match="one vote or more"):
        scores(found, quorum=0)


def test_what_one_problem_equal_ones_or_none_with_votes_cannot_tell_is_undefined():
    nothing = Undefined(Reason.NO_VOTES)
    (one,), (equal,) = setters(problems(7.5)), setters(problems(5, 5))
    (partly,), (unscored,) = setters([cycle("abc", {}), *problems(5)]), setters([cycle("abc", {})])
    hard, easy = setters([*problems(2.5, setter="a"), *problems(7.5, setter="b")])

    assert one.calibration == Estimate(0.5, Undefined(Reason.TOO_FEW_UNITS), 1, 1)
    assert equal.calibration == Estimate(1.0, Undefined(Reason.NO_SPREAD), 2, 2), "the next need not be equal"
    assert (partly.problems, partly.scored, partly.calibration.value) == (2, 1, 1)
    assert unscored.calibration == Estimate(nothing, nothing, 0, 0)
    assert hard.calibration.value == easy.calibration.value == 0.5
    assert (hard.overall.value, easy.overall.value) == (2.5, 7.5), "too hard and too easy are told apart"
    levels = {0: 0, 2.5: 0.5, 5: 1, 7.42: 0.516, 7.5: 0.5, 10: 0, -3: 0, 334.7: 0}
    assert {level: calibration(level) for level in levels} == pytest.approx(levels), "best in the middle"


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
        held += holds(found, truth)[known].tolist()
        plain += holds(naive, truth)[known].tolist()

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
