"""Statistics of studies, the mixed logistic model among them, against published fits and what has to be so."""

import itertools
import math

import numpy as np
import pytest

from leaderboard.ratings import Reason, Undefined
from leaderboard.ratings.studies import corrections, planning, rates, scores, survival
from leaderboard.ratings.studies.mixed import _Model, fit, mixed_difference

# Remission of leukemia in weeks, with 6-mercaptopurine and without: Freireich et al., Blood 21 (1963)
TREATED = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
# 15 p-values of a trial of thrombolysis: Benjamini & Hochberg (1995), section 3.2
P_VALUES = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459),
    *(0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def test_the_interval_of_a_difference_of_rates_is_newcombes():
    """Newcombe (1998), table II, method 10, which gives four digits."""
    for (first, runs, second, others), expected in (
        *(((56, 70, 48, 80), (0.0524, 0.3339)), ((9, 10, 3, 10), (0.1705, 0.8090))),
        *(((6, 7, 2, 7), (0.0582, 0.8062)), ((5, 56, 0, 29), (-0.0381, 0.1926))),
        *(((0, 10, 0, 10), (-0.2775, 0.2775)), ((10, 10, 0, 10), (0.6075, 1.0))),
    ):
        happened = np.array([1] * first + [0] * (runs - first) + [1] * second + [0] * (others - second), dtype=bool)
        found = rates.rate_difference(happened, np.arange(runs + others) < runs, np.zeros(runs + others, dtype=int))
        assert (found.low, found.high) == pytest.approx(expected, abs=5.1e-5)


def test_the_exact_test_of_strata_counts_assignments():
    tasted = rates.exact_test([1, 1, 1, 0, 1, 0, 0, 0], [1] * 4 + [0] * 4, [0] * 8, is_mid_p=False)
    happened = np.array([1, 1, 0, 1, 1, 0, 1, 0, 0, 0])
    first = np.array([1, 1, 1, 0, 0, 1, 1, 1, 0, 0])
    strata = np.array([0] * 5 + [1] * 5)
    totals = [
        sum(happened[list(one)]) + sum(happened[list(other)])
        for one in itertools.combinations(range(5), 3)
        for other in itertools.combinations(range(5, 10), 3)
    ]
    chances = {total: totals.count(total) / len(totals) for total in set(totals)}
    seen = chances[int((happened & first).sum())]
    expected = sum(chance / (1 + (chance == seen)) for chance in chances.values() if chance <= seen)

    assert tasted == pytest.approx(34 / 70, abs=1e-9)  # Fisher's lady tasting tea
    assert rates.exact_test(happened, first, strata) == pytest.approx(expected, abs=1e-9)


def test_missing_outcomes_bound_a_difference_and_none_leave_no_width():
    values = np.array([1, 0, math.nan, 1, 0, math.nan, 0, 0])
    first, prompts = np.arange(8) < 4, np.array([0, 0, 1, 1, 0, 0, 1, 1])
    one, other, apart = rates.bounds(values, first, prompts, least=0, most=1)

    assert (one.low, one.high) == (0.5, 0.75)
    assert (other.low, other.high) == (0, 0.25)
    assert (apart.low, apart.high) == (0.25, 0.75)
    *_sides, apart = rates.bounds(np.nan_to_num(values), first, prompts, least=0, most=1)
    assert apart.low == apart.high == 0.5


def test_cliffs_delta_has_the_interval_of_the_literature():
    """The example of R's package effsize (Torchiano), whose digits these are; ends without overlap by Feng & Cliff."""
    found = scores.cliffs_delta([10, 10, 20, 20, 20, 30, 30, 30, 40, 50], [10, 20, 30, 40, 40, 50])
    apart = scores.cliffs_delta([3, 4, 5], [1, 1, 2, 2])

    assert found.value == -0.25
    assert (found.low, found.high) == pytest.approx((-0.7265846, 0.3890062), abs=1e-7)
    assert (apart.value, apart.high) == (1, 1)
    assert apart.low == pytest.approx((3 - 2.570581835636197**2) / (3 + 2.570581835636197**2), abs=1e-9)


def test_an_interval_of_bounded_scores_stays_on_their_scale_and_repeats():
    random = np.random.default_rng(3)
    values = random.binomial(1, np.where(np.arange(120) < 60, 0.97, 0.05)).astype(float)
    first, prompts, order = np.arange(120) < 60, np.arange(120) % 6, random.permutation(120)
    for scope in ("runs", "prompts"):
        found, again = (scores.difference(values, first, prompts, scope=scope, seed=1) for _ in "ab")
        moved = scores.difference(values[order], first[order], prompts[order], scope=scope, seed=1)

        assert -1 <= found.low < found.value < found.high <= 1
        assert found == again
        assert moved.value == pytest.approx(found.value, abs=1e-12)


def test_signs_of_prompts_are_all_tried_and_a_prompt_of_one_condition_alone_is_drawn_as_well():
    values, first = np.array([3.0, 1, 4, 2, 5, 1, 2, 1]), np.array([1, 0] * 4, dtype=bool)
    found = scores.permutation_test(values, first, np.repeat(np.arange(4), 2), scope="prompts")

    assert found == 2 / 2**4, "all four prompts say the same, so only all signs turned say as much"

    found = scores.difference(*_rows([0, 0, 1, 0, 0], [1, 1, 1, 0, 0], [0, 1, 2, 0, 1]), scope="prompts")

    assert (found.value, found.low, found.high) == (pytest.approx(1 / 3), 0, 0.5), "never of the third alone"


def test_what_few_runs_do_not_say_is_not_said():
    few, alike, apart = Undefined(Reason.TOO_FEW_UNITS), Undefined(Reason.NO_SPREAD), _rows([1, 2], [1, 0], [0, 1])
    assert scores.difference(*apart, scope="runs") == scores.permutation_test(*apart, scope="runs") == few
    assert scores.difference(*_rows([1, 2], [1, 1], [0, 1]), scope="prompts") == few
    assert scores.cliffs_delta([1], [1, 2]) == survival.restricted_mean([2, 3], [1, 0], 5) == few
    assert scores.difference(*_rows([1] * 8, [1, 0] * 4, [0] * 8), scope="runs") == alike
    assert survival.log_rank([2, 3], [0, 0], [1, 0], [0, 0]) == alike


def _rows(values, first, prompts):
    return np.array(values, dtype=float), np.array(first, dtype=bool), np.array(prompts)


def test_remissions_are_those_of_the_textbooks():
    """Shares exactly; errors to the four digits of Klein & Moeschberger (2003), table 4.1B; limits of R's survfit."""
    curve = survival.kaplan_meier(TREATED, RELAPSED)
    shares = np.cumprod([18 / 21, 16 / 17, 14 / 15, 11 / 12, 10 / 11, 6 / 7, 5 / 6])

    assert curve.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert curve.share == pytest.approx(shares, abs=1e-12)
    assert curve.error == pytest.approx([0.0764, 0.0869, 0.0963, 0.1068, 0.1141, 0.1282, 0.1346], abs=5.1e-5)
    assert (curve.low[0], curve.high[0]) == pytest.approx((0.620, 0.952), abs=5.1e-4)
    assert (curve.median, curve.median_interval) == (23, (13, None))  # SAS's LIFETEST, too
    steps = survival.steps(np.array(TREATED, dtype=float), np.array(RELAPSED, dtype=bool))
    once = (6, 9, 10, 11, 17, 19, 20, 25, 34, 35)
    assert sorted(steps.censored) == sorted([*((time, 1) for time in once), (32, 2)])
    untreated = survival.kaplan_meier(PLACEBO, [1] * 21)
    assert (untreated.median, untreated.median_interval) == (8, (4, 11))
    test = survival.log_rank(TREATED + PLACEBO, RELAPSED + [1] * 21, [1] * 21 + [0] * 21, [0] * 42)
    assert (test.statistic, test.observed, test.expected) == pytest.approx((16.79, 9, 19.25), abs=5.1e-3)
    for until in (23, 30):  # without censoring
        mean, error = survival.restricted_mean(PLACEBO, [1] * 21, until)
        assert mean == pytest.approx(np.mean(PLACEBO), abs=1e-9)
        assert error == pytest.approx(np.std(PLACEBO) / math.sqrt(21), abs=1e-9)


def test_several_tests_and_looks_are_corrected_as_in_their_papers():
    """Looks: Reboussin, DeMets, Kim & Lan, "Programs for computing group sequential boundaries" (1998)."""
    adjusted = corrections.benjamini_hochberg(P_VALUES)
    assert sum(p <= 0.05 for p in adjusted) == 4
    assert sum(p <= 0.05 for p in corrections.holm(P_VALUES)) == 3
    assert adjusted[3] == pytest.approx(0.0095 * 15 / 4, abs=1e-12)
    assert corrections.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-12)

    for shares, expected in (
        ((0.2, 0.4, 0.6, 0.8, 1), (4.8769, 3.3570, 2.6803, 2.2898, 2.0310)),
        ((0.5, 1), (2.9626, 1.9686)),
        ((1,), (1.959963984540054,)),
    ):
        assert corrections.look_bounds(shares, 0.05) == pytest.approx(expected, abs=6e-5)


def test_sizes_are_planned_as_in_textbooks_and_solve_each_other():
    assert planning.runs_for_rates(0.6, 0.5) == 388
    assert planning.runs_for_scores(0.5, 1) == 64  # Cohen (1988), table 2.4.1
    assert planning.visible_rate(0.5, 50) == pytest.approx(0.27, abs=0.005)
    assert planning.visible_rate(0.5, 100) == pytest.approx(0.19, abs=0.005)
    assert planning.power_for_rates(0.6, 0.5, 388) == pytest.approx(0.8, abs=1e-3)
    assert planning.visible_rate(0.5, 3) is None
    assert planning.clustered(100, 5, 0.25) == 200

    halved = 4 * (1.959964 + 0.841621) ** 2 / math.log(2) ** 2  # events: Schoenfeld (1983)
    assert planning.runs_for_times(0.75, 0.5) == math.ceil(halved / 1.25)
    assert planning.visible_time(0.75, math.ceil(halved / 1.25)) == pytest.approx(0.25, abs=0.002)
    assert planning.visible_time(0, 100) is None
    with pytest.raises(ValueError, match="above 0"):
        planning.runs_for_times(0, 0.5)
    assert planning.runs_for_mixed_rates(0.6, 0.5, spread=0) == 388, "as without prompts"
    runs = planning.runs_for_mixed_rates(0.5, 0.3, spread=1)
    assert runs < planning.runs_for_rates(0.5, 0.3), "what prompts differ by is no error"
    assert planning.visible_mixed_rate(0.5, runs, spread=1) == pytest.approx(0.2, abs=0.002)
    assert planning.visible_diversity(3, 8) is None
    repeats = planning.repeats_for_diversity(0.5, 8)
    assert planning.visible_diversity(repeats, 8) <= 0.5 < planning.visible_diversity(repeats - 1, 8)


# Contagious bovine pleuropneumonia in herds of zebus, as (new cases, animals) of the herd in periods 1 to 4:
# Lesnoff et al., Preventive Veterinary Medicine 64 (2004); the data set cbpp of lme4
HERDS = [
    *([(2, 14), (3, 12), (4, 9), (0, 5)], [(3, 22), (1, 18), (1, 21)], [(8, 22), (2, 16), (0, 16), (2, 20)]),
    *([(2, 10), (0, 10), (2, 9), (0, 6)], [(5, 18), (0, 25), (0, 24), (1, 4)], [(3, 17), (0, 17), (0, 18), (1, 20)]),
    *([(8, 16), (1, 10), (3, 9), (0, 5)], [(12, 34)], [(2, 9), (0, 6), (0, 8), (0, 6)]),
    *([(1, 22), (1, 22), (0, 18), (2, 22)], [(0, 25), (5, 27), (3, 22), (1, 22)], [(2, 10), (1, 8), (0, 6), (0, 5)]),
    *([(1, 21), (2, 24), (0, 19), (0, 23)], [(11, 19), (0, 2), (0, 3), (0, 2)], [(1, 19), (1, 15), (1, 15), (0, 15)]),
]
CELLS = [(herd, period, *cell) for herd, cells in enumerate(HERDS) for period, cell in enumerate(cells)]
HERD, PERIOD, CASES, ANIMALS = np.array(CELLS).T
DESIGN = np.column_stack([np.ones(len(CELLS)), *(number == PERIOD for number in (1, 2, 3))]).astype(float)
BINOMIAL = sum(math.log(math.comb(n, k)) for n, k in zip(ANIMALS.tolist(), CASES.tolist(), strict=True))


def test_herds_have_the_estimates_of_lme4_and_the_likelihood_by_one_node_is_laplaces():
    """glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), cbpp, binomial, nAGQ = 9), four digits."""
    found = fit(CASES, ANIMALS, DESIGN, HERD, nodes=9)

    assert found.coefficients == pytest.approx([-1.3992, -0.9914, -1.1278, -1.5795], abs=5e-5)
    assert found.errors == pytest.approx([0.2335, 0.3068, 0.3268, 0.4276], abs=5e-5)
    assert found.spread == pytest.approx(0.6475, abs=5e-5)

    at = [-1.3983428639994453, -0.9919249753929507, -1.1282162163483180, -1.5797454141259091, 0.642069925403405]
    model = _Model(CASES.astype(float), ANIMALS.astype(float), DESIGN, HERD, *np.polynomial.hermite.hermgauss(1))

    assert model.likelihood(np.array(at))[0] + BINOMIAL == pytest.approx(-92.02628186840045, abs=5e-6)


FIRST = np.tile(np.repeat([True, False], 6), 5)
PROMPTS = np.repeat(np.arange(5), 12)


def test_settings_have_effects_of_their_own_and_what_always_or_never_happens_no_finite_odds():
    none, settings = np.zeros(60, dtype=int), np.tile([0, 1], 30)
    happened = np.random.default_rng(4).random(60) < np.where(settings, 0.8, 0.3) * np.where(FIRST, 1, 0.6)
    found = mixed_difference(happened, FIRST, PROMPTS, settings)
    turned = mixed_difference(happened, ~FIRST, PROMPTS, 1 - settings)

    assert found.log_odds.low < found.log_odds.value < found.log_odds.high
    assert (turned.p, turned.log_odds.value) == pytest.approx((found.p, -found.log_odds.value), abs=1e-6)
    assert found.p < mixed_difference(happened, FIRST, PROMPTS, none).p

    happened = FIRST | (np.arange(60) % 3 == 0)
    found = mixed_difference(happened, FIRST, PROMPTS, none)

    assert found.log_odds is None
    assert 0 < found.p < 1e-6
    assert mixed_difference(~happened, FIRST, PROMPTS, none).p == pytest.approx(found.p)

    even, few = np.arange(60) % 2 == 0, Undefined(Reason.TOO_FEW_UNITS)
    assert mixed_difference(even, FIRST, none, none) == mixed_difference(even, none > 0, PROMPTS, none) == few
    assert mixed_difference(none > 0, FIRST, PROMPTS, none) == Undefined(Reason.NO_SPREAD)
