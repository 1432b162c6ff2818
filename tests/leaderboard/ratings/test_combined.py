"""People and judges in one fit: against another way to the same numbers, and against what is known to be true."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Shared, Undefined, by_items, corrected, fit, pooled, tally
from leaderboard.ratings.intervals import factor
from tests.leaderboard.ratings.leagues import dense, holds, is_as_often_as_claimed, limit, names, rows

LEAN = np.array([-0.9, 0.0, 0.2, 0.3, 0.4])  # nats: a judge that likes the last ones


def panel(seed, *, votes=600, samples=250, lean=LEAN, luck=1.5):
    """A judge compares every pair on every sample; people vote on some of that, drawn at random. Both see the same luck
    of each contestant on a sample, and decide by chance of their own. Gives both, and people's ratings in the limit.
    """
    random, strengths = np.random.default_rng(seed), np.array([0.5, 0.25, 0.0, -0.25, -0.5])
    left, right = np.triu_indices(5, 1)
    on_sample = strengths + random.normal(0, luck, (samples, 5))
    apart = (on_sample[:, left] - on_sample[:, right]).ravel()
    judged = random.random(len(apart)) < 1 / (1 + np.exp(-2 * apart - np.tile(lean[left] - lean[right], samples)))
    lefts, rights, items = np.tile(left, samples), np.tile(right, samples), np.repeat(np.arange(samples), len(left))
    drawn = random.integers(0, len(apart), votes)
    score = (random.random(votes) < 1 / (1 + np.exp(-apart[drawn]))).astype(float)
    people = Shared(Battles(lefts[drawn], rights[drawn], score, names(5)), items[drawn])
    return people, Shared(Battles(lefts, rights, judged.astype(float), names(5)), items), limit(strengths, luck)


def alone(people):
    return by_items(tally(people.battles), people)


@pytest.mark.parametrize("leagues", [60, pytest.param(600, marks=pytest.mark.exhaustive)])
def test_corrected_ratings_are_those_of_people_whatever_the_judge_likes_and_intervals_are_narrower(leagues):
    inside, off, of_pool, widths, voted = [], [], [], [], []
    for seed in range(leagues):
        people, judges, truth = panel(seed)
        found, plain, pool = corrected(people, judges), alone(people), pooled(people, judges, 0.5)
        inside.append(holds(found.intervals, truth))
        off.append(found.intervals.ratings.values - truth)
        of_pool.append(pool.intervals.ratings.values - truth)
        widths.append(found.intervals.errors / plain.errors)
        voted.append(holds(plain, truth))

    assert is_as_often_as_claimed(inside)
    assert is_as_often_as_claimed(voted)
    assert np.abs(np.mean(off, axis=0)).max() < (6 if leagues < 500 else 3)
    assert np.mean(of_pool, axis=0)[0] < -25, "a pool has the judge's taste in it"
    assert np.mean(widths) < 0.91, "as if there were a fifth more votes"


def test_a_pool_is_a_weighted_logistic_regression():
    people, judges, _truth = panel(4)
    both = (people.battles, judges.battles)
    battles = Battles(
        *(np.concatenate([getattr(one, of) for one in both]) for of in ("left", "right", "score")), names(5)
    )
    weights = np.repeat([1.0, 0.25], [len(one) for one in both])
    items = np.concatenate([people.items, judges.items])
    ratings, _effects, covariance = dense(battles, np.zeros((0, len(battles))), items, weights)

    found = pooled(people, judges, 0.25)

    assert found.intervals.ratings.values == pytest.approx(ratings, abs=1e-6)
    assert found.intervals.errors == pytest.approx(np.sqrt(np.diag(covariance)) * factor(250))
    assert (found.votes, found.verdicts, found.both) == (600, 2500, 600)


def test_neither_who_decided_a_battle_of_equal_weight_nor_which_side_is_called_left_matters():
    people, judges, _truth = panel(8, votes=40, luck=0.0)
    errors = [pooled(*both, 1.0).intervals.errors for both in ((people, judges), (judges, people))]
    assert errors[0] == pytest.approx(errors[1])

    people, judges, _truth = panel(7)
    turned = judges.battles
    turned = Shared(Battles(turned.right, turned.left, 1 - turned.score, names(5)), judges.items)

    first, second = corrected(people, judges), corrected(people, turned)

    assert first.intervals.ratings.values == pytest.approx(second.intervals.ratings.values)
    assert first.intervals.errors == pytest.approx(second.intervals.errors)


def test_a_correction_of_no_weight_leaves_what_people_said_and_a_good_judge_gets_much():
    people, judges, _truth = panel(5)
    found, plain = corrected(people, judges, 0.0), alone(people)

    assert found.intervals.ratings.values == pytest.approx(plain.ratings.values, abs=1e-6)
    assert found.intervals.errors == pytest.approx(plain.errors)
    assert found.intervals.lower == pytest.approx(plain.lower)

    battles = judges.battles
    drawn = np.random.default_rng(5).integers(0, 2, len(battles)).astype(float)
    blind = Shared(Battles(battles.left, battles.right, drawn, names(5)), judges.items)

    assert corrected(people, blind).weight < 0.15
    assert corrected(people, judges).weight > 0.3


def test_a_correction_needs_votes_on_judged_outputs_people_who_rate_somebody_and_a_weight():
    votes = Shared(rows(("a", "b", 1), ("b", "a", 1), ("a", "b", 1)), np.arange(3))
    elsewhere = Shared(rows(("a", "b", 1), ("b", "a", 1)), np.array([8, 9]))
    won = Shared(rows(("a", "b", 1), ("a", "b", 1)), np.array([8, 9]))
    none = Shared(Battles([], [], [], ["a", "b"]), np.zeros(0, dtype=int))

    assert corrected(votes, elsewhere) == Undefined(Reason.NOTHING_PAIRED)
    assert corrected(won, elsewhere) == Undefined(Reason.SEPARATED)
    assert corrected(none, elsewhere) == Undefined(Reason.NO_BATTLES)
    assert pooled(none, none, 1.0) == Undefined(Reason.NO_BATTLES)
    assert pooled(none, elsewhere, 0.5).intervals.ratings.values == pytest.approx(fit(elsewhere.battles).values)
    for function, weight in ((pooled, 0.0), (pooled, np.inf), (corrected, 1.5), (corrected, -0.1)):
        with pytest.raises(ValueError, match="weight"):
            function(votes, elsewhere, weight)
