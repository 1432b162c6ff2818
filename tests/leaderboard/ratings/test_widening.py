"""How much wider intervals are by voter."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Undefined
from leaderboard.ratings.widening import widening


def league(voters, votes, seed=3, *, of_one_mind=False):
    """Votes on three contestants; of_one_mind: each voter has an opinion of their own and says it again and again."""
    random = np.random.default_rng(seed)
    pairs = random.integers(0, 3, voters * votes)
    left, right = np.array([0, 0, 1])[pairs], np.array([1, 2, 2])[pairs]
    who = np.repeat(np.arange(voters), votes)
    opinion = random.integers(0, 2, (voters, 3))
    score = opinion[who, pairs] if of_one_mind else random.integers(0, 2, voters * votes)
    return Battles(left, right, score.astype(float), ["a", "b", "c"]), who


def test_votes_that_have_nothing_to_do_with_their_voter_leave_intervals_about_as_wide():
    assert widening(*league(200, 10)) == pytest.approx(1.0, abs=0.15)


def test_voters_who_say_the_same_again_and_again_are_few_observations():
    assert widening(*league(40, 50, of_one_mind=True)) > 3


def test_few_voters_make_intervals_the_wider():
    battles, who = league(40, 10)

    assert widening(battles, who % 3) > widening(battles, who)


def test_of_one_voter_and_of_ties_alone_nothing_is_known():
    battles, who = league(4, 10)

    assert widening(battles, np.zeros_like(who)) == Undefined(Reason.TOO_FEW_UNITS)
    ties = Battles([0, 0], [1, 1], [0.5, 0.5], ["a", "b"])
    assert widening(ties, [0, 1]) == Undefined(Reason.NO_SPREAD)
