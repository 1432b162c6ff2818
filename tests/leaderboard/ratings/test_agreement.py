"""Coefficients of agreement against published examples, and what is said where they do not exist."""

import numpy as np
import pytest

from leaderboard.ratings.agreement import (
    alpha_interval,
    cohen_interval,
    cohen_kappa,
    fleiss_interval,
    fleiss_kappa,
    kendalls_w,
    krippendorff_alpha,
)
from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.statistics import Interval
from leaderboard.ratings.values import Reason, Undefined
from tests.cases import each_case

x = np.nan
KRIPPENDORFF = np.array(  # "Computing Krippendorff's alpha-reliability" (2011), section C: 4 observers, 12 units
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3],
        [x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x],
    ]
)
FLEISS = [  # en.wikipedia.org/wiki/Fleiss'_kappa: 10 subjects, 14 raters, kappa 0.210
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]
TABLE = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15


def ranking(*ranks):
    """A ballot from ranks, ties sharing one."""
    return tuple(tuple(i for i, own in enumerate(ranks) if own == rank) for rank in sorted(set(ranks)))


def ballots(*rankings):
    return Ballots(rankings, tuple(map(str, range(max(len(sum(r, ())) for r in rankings)))))


ALL_OF_THREE = (frozenset({0, 1, 2}),) * 2


@each_case(
    ("found", "reason"),
    [
        (lambda: krippendorff_alpha(np.ones((3, 4)), "interval"), Reason.CONSTANT),
        (lambda: krippendorff_alpha([[1, x], [x, 2]], "nominal"), Reason.NOTHING_PAIRED),
        (lambda: cohen_kappa(["a"] * 5, ["a"] * 5), Reason.CONSTANT),
        (lambda: cohen_kappa([None], ["a"]), Reason.NOTHING_PAIRED),
        (lambda: fleiss_kappa([[2, 0], [1, 2]]), Reason.UNEQUAL_RATERS),
        (lambda: fleiss_kappa([[2, 0], [2, 0]]), Reason.CONSTANT),
        (lambda: fleiss_kappa([[1, 0], [0, 1]]), Reason.NOTHING_PAIRED),
        (lambda: cohen_interval(["a"], ["b"]), Reason.TOO_FEW_UNITS),
        (lambda: kendalls_w(ballots(ranking(1, 2, 3), ranking(1, 2))), Reason.INCOMPLETE_BALLOTS),
        (lambda: kendalls_w(Ballots((ranking(1, 2),) * 2, tuple("abc"), ALL_OF_THREE)), Reason.INCOMPLETE_BALLOTS),
        (lambda: kendalls_w(ballots(ranking(1, 2, 3))), Reason.ONE_BALLOT),
        (lambda: kendalls_w(Ballots(((),), ("a",))), Reason.NO_COMPARISONS),
        (lambda: kendalls_w(ballots(ranking(1), ranking(1))), Reason.ONE_CANDIDATE),
        (lambda: kendalls_w(ballots(ranking(1, 1, 1), ranking(1, 1, 1))), Reason.CONSTANT),
    ],
)
def test_a_coefficient_that_does_not_exist_has_a_reason(found, reason):
    assert found() == Undefined(reason)


@each_case(
    ("found", "complaint"),
    [
        (lambda: krippendorff_alpha([[-1, 2], [1, 2]], "ratio"), "negative"),
        (lambda: cohen_kappa([1], [2], weights="linear"), "categories"),
        (lambda: cohen_kappa([1], [2], weights="linear", categories=(1, 3)), "not one of the categories"),
    ],
)
def test_values_that_cannot_be_weighed_are_refused(found, complaint):
    with pytest.raises(ValueError, match=complaint):
        found()


def test_coefficients_are_those_of_published_examples():
    """Krippendorff's own; ten subjects of Fleiss (mean agreement 0.378, by chance 0.213); and 50 grant proposals, of
    which 20, 5, 10 and 15 (en.wikipedia.org/wiki/Cohen's_kappa: observed .7, expected .5).
    """
    for level, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)):
        assert krippendorff_alpha(KRIPPENDORFF, level=level) == pytest.approx(published, abs=5e-4), level
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)
    assert cohen_kappa(*zip(*TABLE, strict=True)) == pytest.approx(0.4, abs=1e-9)
    for weights in ("linear", "quadratic"):  # which make no difference to two categories
        found = cohen_kappa(*zip(*TABLE, strict=True), weights=weights, categories=("yes", "no"))
        assert found == pytest.approx(0.4, abs=1e-9), weights


def test_quadratic_kappa_of_mirrored_raters_is_their_correlation():
    """Fleiss & Cohen, Educ. Psychol. Meas. 33 (1973): with equal margins it is the intraclass correlation."""
    first, second = [1, 2, 3, 1, 2, 3, 2], [2, 1, 3, 1, 3, 2, 2]

    assert sorted(first) == sorted(second)
    found = cohen_kappa(first, second, weights="quadratic", categories=(1, 2, 3))
    assert found == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-9)
    assert cohen_kappa(["a", None, "b", "a"], ["a", "b", "b", None]) == 1, "missing verdicts are no category"


def test_intervals_hold_the_figure_are_the_same_for_the_same_seed_and_count_rounds_without_one():
    for found, figure in [
        (alpha_interval(KRIPPENDORFF, "interval", rounds=200), krippendorff_alpha(KRIPPENDORFF, "interval")),
        (cohen_interval(*zip(*TABLE, strict=True), rounds=200), 0.4),
        (fleiss_interval(FLEISS, rounds=200), fleiss_kappa(FLEISS)),
    ]:
        assert found.low < figure < found.high
    assert fleiss_interval(FLEISS, rounds=50, seed=3) == fleiss_interval(FLEISS, rounds=50, seed=3)
    rarely = cohen_interval(["a", "a", "a", "a", "b", "b"], ["a", "a", "a", "a", "b", "a"], rounds=200)
    assert isinstance(rarely, Interval)
    assert 0 < rarely.undefined < 100


@each_case(
    ("given", "expected"),
    [
        # Siegel & Castellan, Nonparametric Statistics (1988), table 9.12: three executives, six applicants, W = .16
        (ballots(ranking(1, 6, 3, 2, 5, 4), ranking(1, 5, 6, 4, 2, 3), ranking(6, 3, 2, 5, 4, 1)), 25.5 / 157.5),
        # Kendall, Rank Correlation Methods (1948), example 6.3: S = 591, W = .828 with the correction for ties
        (
            ballots(
                ranking(1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10),
                ranking(2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5),
                ranking(2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10),
            ),
            591 / 714,
        ),
        (ballots(ranking(1, 2, 3), ranking(3, 1, 2), ranking(2, 3, 1)), 0),
        (ballots(*[ranking(1, 2, 2, 3)] * 3), 1),
        (Ballots((ranking(1, 2), (), ranking(1, 2)), ("a", "b")), 1),
    ],
    ids=["executives", "with ties", "a circle", "the same ballots", "an abstention"],
)
def test_concordance_is_that_of_published_examples(given, expected):
    assert kendalls_w(given) == pytest.approx(expected, abs=1e-9)
