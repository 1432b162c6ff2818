"""The lean of a judge to one side, or to length, estimated together with the ratings."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Undefined, covariate_bias, fit, length_bias, position_bias
from tests.cases import each_case
from tests.leaderboard.ratings.leagues import ELO, league, names, rows

LEAN = 0.6
PAIRS = ("ab", "ba", "bc", "cb", "ac", "ca")
ALL_BUT_CERTAIN = Battles([1, 2, 2, 0, 2, 2, 2], [3, 0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1, 1], list("abcd"))


def test_even_contestants_show_the_lean_as_the_odds_of_the_left_and_without_one_it_is_nought():
    """Everybody wins three of four battles on the left, none is better: the effect is 400 · log10(3)."""
    battles = rows(*[(a, b, s) for a, b in PAIRS for s in (1, 1, 1, 0)])
    bias = position_bias(battles)

    assert bias.effect == pytest.approx(400 * np.log10(3), abs=1e-6)
    assert bias.ratings == pytest.approx([1000] * 3, abs=1e-6)
    assert bias.n == 24

    battles, _truth = league(6, 5000, 1)

    bias = position_bias(battles)
    assert bias.lower < 0 < bias.upper
    assert bias.ratings == pytest.approx(fit(battles).values, abs=2)


@each_case(
    ("found", "reason"),
    [
        (lambda: position_bias(rows(*[(a, b, 1) for a, b in PAIRS])), Reason.SEPARATED),
        (lambda: position_bias(ALL_BUT_CERTAIN, clusters=[1, 0, 2, 1, 1, 1, 1]), Reason.SEPARATED),
        (lambda: position_bias(rows(*[("a", "b", s) for s in (1, 1, 0)])), Reason.CONFOUNDED),
        (lambda: length_bias(league(3, 30)[0], [7] * 30, [7] * 30), Reason.CONSTANT),
        (lambda: position_bias(Battles([], [], [], ["a", "b"])), Reason.NO_BATTLES),
        (lambda: position_bias(league(4, 100, 4)[0], clusters=np.zeros(100, dtype=int)), Reason.TOO_FEW_UNITS),
    ],
)
def test_a_lean_that_cannot_be_told_has_a_reason(found, reason):
    assert found() == Undefined(reason)


def test_ratings_are_cleaned_of_length():
    """The longest winded writes twice as much, and the judge pays for it: its rating falls when that is held fixed."""
    random = np.random.default_rng(3)
    lengths = random.uniform(50, 150, (2, 4000)) * 1.0
    left = random.integers(0, 5, 4000)
    right = (left + random.integers(1, 5, 4000)) % 5
    lengths[0][left == 0] *= 2
    lengths[1][right == 0] *= 2
    relative = (lengths[0] - lengths[1]) / lengths.sum(axis=0)
    wins = random.random(4000) < 1 / (1 + np.exp(-LEAN * relative / np.sqrt(np.mean(relative**2))))
    battles = Battles(left, right, wins.astype(float), names(5))
    bias = length_bias(battles, *lengths)

    assert bias.lower < ELO * LEAN < bias.upper
    assert fit(battles)["c000"] > 1080
    assert bias.ratings[0] == pytest.approx(1000, abs=35)


def test_a_covariate_that_does_not_fit_is_refused_and_verdicts_of_one_sample_are_one_observation():
    battles, _truth = league(3, 30)

    with pytest.raises(ValueError, match="per battle"):
        covariate_bias(battles, [1.0])
    with pytest.raises(ValueError, match="per battle"):
        position_bias(battles, clusters=[1])
    with pytest.raises(ValueError, match="0 or more"):
        length_bias(battles, [-1] * 30, [1] * 30)

    battles, _truth = league(5, 600, 4)
    times = Battles(*(np.tile(side, 3) for side in (battles.left, battles.right, battles.score)), battles.contestants)
    once, thrice = position_bias(battles), position_bias(times, clusters=np.tile(np.arange(600), 3))

    assert thrice.effect == pytest.approx(once.effect)
    assert thrice.error == pytest.approx(once.error, rel=0.01)
    assert position_bias(times).error < 0.6 * once.error
