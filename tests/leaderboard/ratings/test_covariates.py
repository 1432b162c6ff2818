"""Ratings with covariates held equal: against another way to the same maximum, and against what is known to be true."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Undefined, controlled, covariates
from leaderboard.ratings.bradley_terry import fitted
from leaderboard.ratings.style import script_of, style_of
from tests.leaderboard.ratings.leagues import ELO, league, names, rows


def dense(battles, x, clusters):
    """The same estimate as a plain logistic regression: one column per contestant and covariate, pseudo-inverses."""
    count, k = len(battles.contestants), len(x)
    design = np.zeros((len(battles), count + k))
    design[np.arange(len(battles)), battles.left] = 1
    design[np.arange(len(battles)), battles.right] = -1
    design[:, count:] = x.T
    found = np.zeros(count + k)
    for _ in range(40):
        chance = 1 / (1 + np.exp(-design @ found))
        curvature = (design.T * (chance * (1 - chance))) @ design
        found = found + np.linalg.pinv(curvature, rcond=1e-12) @ (design.T @ (battles.score - chance))
    scores = np.zeros((clusters.max() + 1, count + k))
    np.add.at(scores, clusters, (battles.score - chance)[:, None] * design)
    inverse = np.linalg.pinv(curvature, rcond=1e-12)
    strengths = found[:count] - found[:count].mean()
    return 1000 + ELO * strengths, ELO * found[count:], inverse @ scores.T @ scores @ inverse * ELO**2


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
    assert found.errors == pytest.approx(np.sqrt(np.diag(covariance))[7:], rel=1e-3), (
        "factors for many clusters are near 1"
    )
    assert found.intervals.errors == pytest.approx(np.sqrt(np.diag(covariance))[:7], rel=3e-3)

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
    first, _truth = league(3, 600, 1)
    second, _truth = league(3, 600, 2)
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
