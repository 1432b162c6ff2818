"""Ratings with covariates held equal, and a judge's lean: against other ways to the same maximum, and the truth."""

import numpy as np
import pytest

from leaderboard.ratings import (
    Battles,
    Reason,
    Undefined,
    controlled,
    covariate_bias,
    covariates,
    fit,
    length_bias,
    position_bias,
)
from leaderboard.ratings.bradley_terry import fitted
from leaderboard.ratings.style import relative_difference, script_of, style_of
from tests.leaderboard.ratings.leagues import ELO, dense, holds, league, names, rows

LEAN = 0.8  # nats for one standard deviation of relative length


def test_the_fit_and_its_likelihood_are_those_of_a_plain_logistic_regression():
    battles, _truth = league(7, 3000, 5, ties=0.2)
    random = np.random.default_rng(5)
    x, clusters = random.normal(size=(4, 3000)), random.integers(0, 2500, 3000)
    clusters = np.unique(clusters, return_inverse=True)[1]
    x[1] += 0.7 * x[0]

    found = controlled(battles, x, clusters=clusters)
    ratings, effects, covariance = dense(battles, x, clusters)

    assert np.abs(found.intervals.ratings.values - ratings).max() < 1e-6
    assert np.abs(found.effects - effects).max() < 1e-6
    errors = np.sqrt(np.diag(covariance))
    assert found.errors == pytest.approx(errors[7:], rel=1e-3), "factors for many clusters are near 1"
    assert found.intervals.errors == pytest.approx(errors[:7], rel=3e-3)

    battles, _truth = league(5, 300, 4, ties=0.2)
    random = np.random.default_rng(4)
    rows = covariates._rows_of(fitted(battles, {}), battles, random.normal(size=(2, 300)), np.arange(300))
    at = random.normal(size=7)

    chances = rows.chances(at)
    expected = rows.score @ np.log(chances) + (1 - rows.score) @ np.log(1 - chances)
    assert covariates._evaluated(rows, at, is_curved=False).likelihood == pytest.approx(expected)


def test_what_is_moved_is_what_leaving_a_covariate_out_moves():
    battles, _truth = league(5, 4000, 2)
    random = np.random.default_rng(2)
    wordy = np.where(battles.left == 0, 0.4, 0.0) - np.where(battles.right == 0, 0.4, 0.0)
    x = np.stack([random.normal(size=4000) * 0.3 + wordy, random.normal(size=4000)])

    both, second = controlled(battles, x), controlled(battles, x[1:])

    moved = second.intervals.ratings.values - both.intervals.ratings.values
    assert both.moves[0] == pytest.approx(moved, abs=0.3)


def biased_board(seed, battles=1500):
    """Five contestants of known strength, the strongest writing short answers, and a judge that leans to long ones."""
    random = np.random.default_rng(seed)
    strengths = np.array([0.5, 0.25, 0.0, -0.25, -0.5])
    typical = np.array([300, 400, 500, 600, 900])
    left = random.integers(0, 5, battles)
    right = (left + random.integers(1, 5, battles)) % 5
    lengths = typical[np.stack([left, right])] * random.lognormal(0, 0.5, (2, battles))
    relative, _size = relative_difference(*lengths)
    apart = strengths[left] - strengths[right] + LEAN * relative
    score = (random.random(battles) < 1 / (1 + np.exp(-apart))).astype(float)
    return Battles(left, right, score, names(5)), relative, 1000 + ELO * strengths


@pytest.mark.parametrize("leagues", [60, pytest.param(1500, marks=pytest.mark.exhaustive)])
def test_a_planted_lean_to_length_spoils_plain_ratings_and_adjusted_intervals_hold_the_truth(leagues):
    held, plain_off, effects = [], [], []
    for seed in range(leagues):
        battles, relative, truth = biased_board(seed)
        found = controlled(battles, relative)
        held.append(holds(found.intervals, truth))
        plain_off.append(fit(battles).values - truth)
        effects.append(found.lower[0] <= ELO * LEAN <= found.upper[0])

    share = np.mean(held)
    assert np.mean(plain_off, axis=0)[0] < -50, "the best contestant is rated too low"
    assert np.mean(plain_off, axis=0)[4] > 50
    assert 0.93 <= share <= (0.97 if leagues > 1000 else 0.99)
    assert np.mean(effects) > (0.93 if leagues > 1000 else 0.85)


def test_a_covariate_that_tells_nothing_is_left_out_with_its_reason():
    battles, _truth = league(4, 800, 3)
    x = np.random.default_rng(3).normal(size=800)
    of_first = 1.0 * (battles.left == 0) - (battles.right == 0)
    alone = controlled(battles, x).intervals.ratings.values
    for given, reasons in (
        ([x, x], [None, Reason.CONFOUNDED]),
        ([x, 0 * x], [None, Reason.CONSTANT]),
        ([of_first, x], [Reason.CONFOUNDED, None]),
    ):
        found = controlled(battles, given)
        assert list(found.reasons) == reasons
        assert np.isnan(found.effects).tolist() == [bool(reason) for reason in reasons]
        assert found.intervals.ratings.values == pytest.approx(alone)


def test_groups_that_no_battle_links_keep_their_scales_and_who_has_no_figure_a_reason():
    (first, _truth), (second, _of_second) = league(3, 600, 1), league(3, 600, 2)
    sides = [np.append(a, b + 3) for a, b in ((first.left, second.left), (first.right, second.right))]
    both = Battles(*sides, np.append(first.score, second.score), names(6))
    x = np.random.default_rng(1).normal(size=1200)

    found = controlled(both, x)

    values = found.intervals.ratings.values
    assert (values[:3].mean(), values[3:].mean()) == pytest.approx((1000, 1000))
    assert np.isnan(found.intervals.covariance[0, 4])
    assert abs(found.effects[0]) < 4 * found.errors[0]

    battles, _truth = league(3, 200, 1)

    assert controlled(battles, battles.score - 0.5) == Undefined(Reason.SEPARATED)

    battles = rows(*[(a, b, s) for a, b in ("ab", "bc", "ca") for s in (1, 0, 1, 0, 1)], *[("z", "a", 1)] * 3)
    found = controlled(battles, np.tile([1.0, -1.0, 0.5], 6))

    assert found.intervals.ratings.reasons[3] == Reason.UNDEFEATED
    assert np.isnan(found.intervals.ratings.values[3])


def test_the_style_of_a_text_is_counted_outside_of_its_code():
    code = "```py\n# not a heading\n- no item\n```\n"
    text = f"# Title\n\nA **bold** word and __another__.\n\n- one\n- two\n1. three\n\n{code}"

    assert style_of(text, "Explain it")._asdict() == {
        "length": len(text), "headings": 1, "lists": 3, "bold": 2, "code": 1, "language": 1,
    }  # fmt: skip
    assert style_of("你好，这是答案", "Explain it").language == 0
    assert style_of("42", "问题").language == 1, "no letter is in another script"
    assert [script_of(one) for one in ("これは漢字です", "汉字", "Привет", "123")] == ["kana", "han", "cyrillic", ""]


TASTE = 0.6
PAIRS = ("ab", "ba", "bc", "cb", "ac", "ca")


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


def test_a_lean_that_cannot_be_told_has_a_reason():
    all_but_certain = Battles([1, 2, 2, 0, 2, 2, 2], [3, 0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 0, 1, 1], list("abcd"))
    one_sample = position_bias(league(4, 100, 4)[0], clusters=np.zeros(100, dtype=int))
    assert position_bias(rows(*[(a, b, 1) for a, b in PAIRS])) == Undefined(Reason.SEPARATED)
    assert position_bias(all_but_certain, clusters=[1, 0, 2, 1, 1, 1, 1]) == Undefined(Reason.SEPARATED)
    assert position_bias(rows(*[("a", "b", s) for s in (1, 1, 0)])) == Undefined(Reason.CONFOUNDED)
    assert length_bias(league(3, 30)[0], [7] * 30, [7] * 30) == Undefined(Reason.CONSTANT)
    assert position_bias(Battles([], [], [], ["a", "b"])) == Undefined(Reason.NO_BATTLES)
    assert one_sample == Undefined(Reason.TOO_FEW_UNITS)


def test_ratings_are_cleaned_of_length():
    """The longest winded writes twice as much, and the judge pays for it: its rating falls when that is held fixed."""
    random = np.random.default_rng(3)
    lengths = random.uniform(50, 150, (2, 4000)) * 1.0
    left = random.integers(0, 5, 4000)
    right = (left + random.integers(1, 5, 4000)) % 5
    lengths[0][left == 0] *= 2
    lengths[1][right == 0] *= 2
    relative = (lengths[0] - lengths[1]) / lengths.sum(axis=0)
    wins = random.random(4000) < 1 / (1 + np.exp(-TASTE * relative / np.sqrt(np.mean(relative**2))))
    battles = Battles(left, right, wins.astype(float), names(5))
    bias = length_bias(battles, *lengths)

    assert bias.lower < ELO * TASTE < bias.upper
    assert fit(battles)["c000"] > 1080
    assert bias.ratings[0] == pytest.approx(1000, abs=35)


def test_a_covariate_that_does_not_fit_is_refused_and_verdicts_of_one_sample_are_one_observation():
    battles, _truth = league(3, 30)
    for bias, given, more, complaint in (
        *((covariate_bias, ([1.0],), {}, "per battle"), (position_bias, (), {"clusters": [1]}, "per battle")),
        (length_bias, ([-1] * 30, [1] * 30), {}, "0 or more"),
    ):
        with pytest.raises(ValueError, match=complaint):
            bias(battles, *given, **more)

    battles, _truth = league(5, 600, 4)
    times = Battles(*(np.tile(side, 3) for side in (battles.left, battles.right, battles.score)), battles.contestants)
    once, thrice = position_bias(battles), position_bias(times, clusters=np.tile(np.arange(600), 3))

    assert thrice.effect == pytest.approx(once.effect)
    assert thrice.error == pytest.approx(once.error, rel=0.01)
    assert position_bias(times).error < 0.6 * once.error
