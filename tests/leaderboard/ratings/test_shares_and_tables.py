"""Tables of counts, shares of votes and voters: figures are as sure as the units behind them allow, and no surer."""

import numpy as np
import pytest

from leaderboard.ratings import Battles, Reason, Undefined
from leaderboard.ratings.agreement import (
    alpha_interval_of_items,
    alpha_of_table,
    cohen_interval,
    cohen_kappa,
    kappa_interval_of_items,
    kappa_of_table,
    krippendorff_alpha,
    spearman,
)
from leaderboard.ratings.intervals import widening
from leaderboard.ratings.statistics import Share, resampled, share_of_items
from tests.cases import each_case

UNITS = [(0, 0)] * 40 + [(0, 1)] * 9 + [(1, 0)] * 6 + [(1, 1)] * 30 + [(2, 1)] * 5 + [(2, 2)] * 10


PAIRED_TWICE = np.concatenate([np.eye(2)[:, :, None] * np.eye(2)[:, None, :], np.zeros((18, 2, 2))])  # 40 % have both


def table_of(units):
    table = np.zeros((3, 3))
    for first, second in units:
        table[first, second] += 1
    return table


def items_of(units, times=1):
    """Each unit an item of its own, on which so many answers are the same."""
    return np.array([times * table_of([unit]) for unit in units])


def test_the_same_answer_again_on_the_same_item_makes_no_interval_narrower():
    once, often = (kappa_interval_of_items(items_of(UNITS, times), rounds=500) for times in (1, 25))
    alphas = [alpha_interval_of_items(items_of(UNITS, times), (1, 2, 3), "ordinal", rounds=500) for times in (1, 25)]

    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert (alphas[1].low, alphas[1].high) == pytest.approx((alphas[0].low, alphas[0].high), abs=0.01)
    assert alphas[0].low < alpha_of_table(table_of(UNITS), (1, 2, 3), "ordinal") < alphas[0].high


@each_case(
    ("first", "second", "alpha"),
    [  # Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), sections A and B
        ("0100000010", "1110010000", 1 - 19 * 8 / (2 * 14 * 6)),
        ("aabbdcccedda", "babbbccceddd", 1 - 23 * 6 / (24 * 23 - 4 * 3 - 3 * 6 * 5 - 2)),
    ],
)
def test_alpha_of_two_observers_is_as_published(first, second, alpha):
    places = sorted({*first, *second})
    table = np.zeros((len(places), len(places)))
    for one, other in zip(first, second, strict=True):
        table[places.index(one), places.index(other)] += 1

    assert alpha_of_table(table, range(len(places)), "nominal") == pytest.approx(alpha, abs=1e-9)


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


@each_case(
    ("found", "reason"),
    [
        (lambda: kappa_of_table(np.zeros((3, 3))), Reason.NOTHING_PAIRED),
        (lambda: kappa_of_table(np.diag([5, 0, 0])), Reason.CONSTANT),
        (lambda: kappa_interval_of_items(np.zeros((0, 3, 3))), Reason.TOO_FEW_UNITS),
        (lambda: kappa_interval_of_items(items_of([(0, 0)])), Reason.TOO_FEW_UNITS),
        (lambda: kappa_interval_of_items(items_of([(0, 0)] * 9)), Reason.MOSTLY_UNDEFINED),
        (lambda: kappa_interval_of_items(PAIRED_TWICE), Reason.MOSTLY_UNDEFINED),
        (lambda: resampled(lambda _drawn: Undefined(Reason.CONSTANT), 5, rounds=9), Reason.MOSTLY_UNDEFINED),
        (lambda: alpha_of_table(np.zeros((2, 2)), (0, 1), "nominal"), Reason.NOTHING_PAIRED),
        (lambda: alpha_of_table(np.diag([5, 0]), (0, 1), "interval"), Reason.CONSTANT),
        (lambda: alpha_interval_of_items(items_of([(0, 1)]), (0, 1, 2), "nominal"), Reason.TOO_FEW_UNITS),
        (lambda: spearman([1, 2], [2, 1]), Reason.TOO_FEW_UNITS),
        (lambda: spearman([1, 1, 1], [1, 2, 3]), Reason.CONSTANT),
    ],
)
def test_a_figure_that_does_not_exist_says_why(found, reason):
    assert found() == Undefined(reason)


@each_case(
    ("found", "complaint"),
    [
        (lambda: kappa_of_table([[1, 2, 3], [4, 5, 6]]), "square"),
        (lambda: kappa_interval_of_items([[1, 2], [3, 4]]), "items"),
        (lambda: alpha_of_table([[1, 2], [3, 4]], (1, 2, 3), "nominal"), "square"),
        (lambda: spearman([1, 2], [1, 2, 3]), "one length"),
    ],
)
def test_a_table_of_another_shape_is_refused(found, complaint):
    with pytest.raises(ValueError, match=complaint):
        found()


def test_intervals_are_the_wider_the_more_a_voter_repeats_an_opinion_and_of_one_nothing_is_known():
    battles, who = league(40, 10)

    assert widening(*league(200, 10)) == pytest.approx(1.0, abs=0.15)
    assert widening(*league(40, 50, of_one_mind=True)) > 3
    assert widening(battles, who % 3) > widening(battles, who)

    assert widening(battles, np.zeros_like(who)) == Undefined(Reason.TOO_FEW_UNITS)
    ties = Battles([0, 0], [1, 1], [0.5, 0.5], ["a", "b"])
    assert widening(ties, [0, 1]) == Undefined(Reason.NO_SPREAD)


def test_spearman_by_hand_and_with_ties():
    assert spearman([1, 2, 3, 4], [10, 20, 40, 30]) == pytest.approx(0.8)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2, 3], [1, 1, 2, 3]) == pytest.approx(1)
    assert spearman([1, 2, np.nan, 3], [5, 6, 7, 9]) == pytest.approx(1)


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
