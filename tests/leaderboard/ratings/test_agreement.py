"""Coefficients of agreement, tables and shares: against published examples, as sure as the units behind them allow."""

import numpy as np
import pytest

from leaderboard.ratings import Battles
from leaderboard.ratings.agreement import (
    alpha_interval,
    alpha_interval_of_items,
    alpha_of_table,
    cohen_interval,
    cohen_kappa,
    fleiss_interval,
    fleiss_kappa,
    kappa_interval_of_items,
    kappa_of_table,
    kendalls_w,
    krippendorff_alpha,
    spearman,
)
from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.intervals import widening
from leaderboard.ratings.statistics import Interval, Share, resampled, share_of_items
from leaderboard.ratings.values import Reason, Undefined

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


def test_coefficients_are_those_of_published_examples():
    """Krippendorff's own; ten subjects of Fleiss (mean agreement 0.378, by chance 0.213); and 50 grant proposals, of
    which 20, 5, 10 and 15 (en.wikipedia.org/wiki/Cohen's_kappa: observed .7, expected .5).
    """
    for level, published in (("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)):
        assert krippendorff_alpha(KRIPPENDORFF, level=level) == pytest.approx(published, abs=5e-4), level
    for first, second, alpha in (  # of the same paper, sections A and B
        ("0100000010", "1110010000", 1 - 19 * 8 / (2 * 14 * 6)),
        ("aabbdcccedda", "babbbccceddd", 1 - 23 * 6 / (24 * 23 - 4 * 3 - 3 * 6 * 5 - 2)),
    ):
        places = sorted({*first, *second})
        table = np.zeros((len(places), len(places)))
        np.add.at(table, tuple([places.index(one) for one in row] for row in (first, second)), 1)
        assert alpha_of_table(table, range(len(places)), "nominal") == pytest.approx(alpha, abs=1e-9)
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)
    assert cohen_kappa(*zip(*TABLE, strict=True)) == pytest.approx(0.4, abs=1e-9)
    for weights in ("linear", "quadratic"):  # which make no difference to two categories
        found = cohen_kappa(*zip(*TABLE, strict=True), weights=weights, categories=("yes", "no"))
        assert found == pytest.approx(0.4, abs=1e-9), weights


def test_quadratic_kappa_of_mirrored_raters_and_spearman_are_correlations_also_with_ties():
    """Fleiss & Cohen, Educ. Psychol. Meas. 33 (1973): with equal margins it is the intraclass correlation."""
    first, second = [1, 2, 3, 1, 2, 3, 2], [2, 1, 3, 1, 3, 2, 2]

    assert sorted(first) == sorted(second)
    found = cohen_kappa(first, second, weights="quadratic", categories=(1, 2, 3))
    assert found == pytest.approx(np.corrcoef(first, second)[0, 1], abs=1e-9)
    assert cohen_kappa(["a", None, "b", "a"], ["a", "b", "b", None]) == 1, "missing verdicts are no category"

    assert spearman([1, 2, 3, 4], [10, 20, 40, 30]) == pytest.approx(0.8)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2, 3], [1, 1, 2, 3]) == pytest.approx(1)
    assert spearman([1, 2, np.nan, 3], [5, 6, 7, 9]) == pytest.approx(1)


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


def test_concordance_is_that_of_published_examples():
    """Siegel & Castellan, Nonparametric Statistics (1988), table 9.12: three executives, six applicants, W = .16;
    Kendall, Rank Correlation Methods (1948), example 6.3: S = 591, W = .828 with the correction for ties.
    """
    executives = ranking(1, 6, 3, 2, 5, 4), ranking(1, 5, 6, 4, 2, 3), ranking(6, 3, 2, 5, 4, 1)
    tied = [ranking(1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10), ranking(2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5)]
    for given, expected in (
        *((ballots(*executives), 25.5 / 157.5), (ballots(*[ranking(1, 2, 2, 3)] * 3), 1)),
        (ballots(*tied, ranking(2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10)), 591 / 714),
        (ballots(ranking(1, 2, 3), ranking(3, 1, 2), ranking(2, 3, 1)), 0),
        (Ballots((ranking(1, 2), (), ranking(1, 2)), ("a", "b")), 1),
    ):
        assert kendalls_w(given) == pytest.approx(expected, abs=1e-9), given


UNITS = [(0, 0)] * 40 + [(0, 1)] * 9 + [(1, 0)] * 6 + [(1, 1)] * 30 + [(2, 1)] * 5 + [(2, 2)] * 10


def table_of(units):
    table = np.zeros((3, 3))
    np.add.at(table, tuple(zip(*units, strict=True)), 1)
    return table


def items_of(units, times=1):
    """Each unit an item of its own, on which so many answers are the same."""
    return np.array([times * table_of([unit]) for unit in units])


def test_the_same_answer_again_makes_no_interval_narrower_and_an_opinion_repeated_a_wider_one():
    once, often = (kappa_interval_of_items(items_of(UNITS, times), rounds=500) for times in (1, 25))
    alphas = [alpha_interval_of_items(items_of(UNITS, times), (1, 2, 3), "ordinal", rounds=500) for times in (1, 25)]

    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert (alphas[1].low, alphas[1].high) == pytest.approx((alphas[0].low, alphas[0].high), abs=0.01)
    assert alphas[0].low < alpha_of_table(table_of(UNITS), (1, 2, 3), "ordinal") < alphas[0].high

    battles, who = league(40, 10)

    assert widening(*league(200, 10)) == pytest.approx(1.0, abs=0.15)
    assert widening(*league(40, 50, of_one_mind=True)) > 3
    assert widening(battles, who % 3) > widening(battles, who)

    assert widening(battles, np.zeros_like(who)) == Undefined(Reason.TOO_FEW_UNITS)
    ties = Battles([0, 0], [1, 1], [0.5, 0.5], ["a", "b"])
    assert widening(ties, [0, 1]) == Undefined(Reason.NO_SPREAD)


def test_a_table_says_what_its_units_say():
    first, second = zip(*UNITS, strict=True)
    for level, weights in (("nominal", "none"), ("ordinal", "linear"), ("interval", "quadratic")):
        alpha = krippendorff_alpha([first, second], level)
        assert alpha_of_table(table_of(UNITS), (0, 1, 2), level) == pytest.approx(alpha), level
        kappa = cohen_kappa(first, second, weights=weights, categories=(0, 1, 2))
        assert kappa_of_table(table_of(UNITS), weights=weights) == pytest.approx(kappa, abs=1e-9), weights
    assert kappa_of_table(table_of(UNITS)) == pytest.approx(cohen_kappa(first, second))

    drawn, found = cohen_interval(first, second, rounds=1000), kappa_interval_of_items(items_of(UNITS), rounds=1000)
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.02)
    assert kappa_interval_of_items(items_of(UNITS)[::-1], rounds=1000) == found


def test_a_figure_that_does_not_exist_says_why():
    constant, unpaired, few = map(Undefined, (Reason.CONSTANT, Reason.NOTHING_PAIRED, Reason.TOO_FEW_UNITS))
    assert krippendorff_alpha(np.ones((3, 4)), "interval") == cohen_kappa(["a"] * 5, ["a"] * 5) == constant
    assert fleiss_kappa([[2, 0], [2, 0]]) == kendalls_w(ballots(ranking(1, 1, 1), ranking(1, 1, 1))) == constant
    assert kappa_of_table(np.diag([5, 0, 0])) == spearman([1, 1, 1], [1, 2, 3]) == constant
    assert alpha_of_table(np.diag([5, 0]), (0, 1), "interval") == constant
    assert krippendorff_alpha([[1, x], [x, 2]], "nominal") == cohen_kappa([None], ["a"]) == unpaired
    assert fleiss_kappa([[1, 0], [0, 1]]) == kappa_of_table(np.zeros((3, 3))) == unpaired
    assert alpha_of_table(np.zeros((2, 2)), (0, 1), "nominal") == unpaired
    assert cohen_interval(["a"], ["b"]) == spearman([1, 2], [2, 1]) == few
    assert kappa_interval_of_items(np.zeros((0, 3, 3))) == kappa_interval_of_items(items_of([(0, 0)])) == few
    assert alpha_interval_of_items(items_of([(0, 1)]), (0, 1, 2), "nominal") == few
    assert fleiss_kappa([[2, 0], [1, 2]]) == Undefined(Reason.UNEQUAL_RATERS)

    incomplete, mostly = Undefined(Reason.INCOMPLETE_BALLOTS), Undefined(Reason.MOSTLY_UNDEFINED)
    assert kendalls_w(ballots(ranking(1, 2, 3), ranking(1, 2))) == incomplete
    assert kendalls_w(Ballots((ranking(1, 2),) * 2, tuple("abc"), (frozenset({0, 1, 2}),) * 2)) == incomplete
    assert kendalls_w(ballots(ranking(1, 2, 3))) == Undefined(Reason.ONE_BALLOT)
    assert kendalls_w(Ballots(((),), ("a",))) == Undefined(Reason.NO_COMPARISONS)
    assert kendalls_w(ballots(ranking(1), ranking(1))) == Undefined(Reason.ONE_CANDIDATE)
    paired_twice = [np.eye(2)[:, :, None] * np.eye(2)[:, None, :], np.zeros((18, 2, 2))]  # 40 % have both
    assert kappa_interval_of_items(np.concatenate(paired_twice)) == mostly
    assert kappa_interval_of_items(items_of([(0, 0)] * 9)) == resampled(lambda _drawn: constant, 5, rounds=9) == mostly


def test_values_that_cannot_be_weighed_and_tables_of_another_shape_are_refused():
    for function, given, more, complaint in (
        (krippendorff_alpha, ([[-1, 2], [1, 2]], "ratio"), {}, "negative"),
        (cohen_kappa, ([1], [2]), {"weights": "linear"}, "categories"),
        (cohen_kappa, ([1], [2]), {"weights": "linear", "categories": (1, 3)}, "not one of the categories"),
        (kappa_of_table, ([[1, 2, 3], [4, 5, 6]],), {}, "square"),
        (kappa_interval_of_items, ([[1, 2], [3, 4]],), {}, "items"),
        (alpha_of_table, ([[1, 2], [3, 4]], (1, 2, 3), "nominal"), {}, "square"),
        (spearman, ([1, 2], [1, 2, 3]), {}, "one length"),
    ):
        with pytest.raises(ValueError, match=complaint):
            function(*given, **more)


def test_items_of_one_vote_have_wilsons_interval_and_ten_that_agree_are_no_more_than_one():
    low, high = Share(3, 5).interval

    assert (low, high) == (pytest.approx(0.2307, abs=1e-4), pytest.approx(0.8824, abs=1e-4))
    assert share_of_items([1, 0, 1, 1], [1, 1, 1, 1]).interval == Share(3, 4).interval
    assert share_of_items([], []).interval is None
    assert (Share(0, 0).value, Share(0, 0).interval) == (None, None)

    together, alone = share_of_items([10, 0, 10, 10] * 10, [10] * 40), Share(30, 40)

    low, high = together.interval
    assert (together.part, together.of) == (300, 400)
    assert low == pytest.approx(alone.interval[0], abs=0.01)
    assert high == pytest.approx(alone.interval[1], abs=0.01)
    assert share_of_items([50, 50], [50, 50]).interval == Share(2, 2).interval
    assert share_of_items([7] * 5, [25] * 5).effective == 5, "one unit each, whatever rounding leaves"
    few = share_of_items([9, 0, 6], [10, 10, 10])  # 0.25 / 0.07, and t of two degrees of freedom
    assert few.effective == pytest.approx(0.25 / 0.07 * (1.959964 / 4.302653) ** 2)


def league(voters, votes, seed=3, *, of_one_mind=False):
    """Votes on three contestants; of_one_mind: each voter has an opinion of their own and says it again and again."""
    random = np.random.default_rng(seed)
    pairs = random.integers(0, 3, voters * votes)
    left, right = np.array([0, 0, 1])[pairs], np.array([1, 2, 2])[pairs]
    who = np.repeat(np.arange(voters), votes)
    opinion = random.integers(0, 2, (voters, 3))
    score = opinion[who, pairs] if of_one_mind else random.integers(0, 2, voters * votes)
    return Battles(left, right, score.astype(float), ["a", "b", "c"]), who
