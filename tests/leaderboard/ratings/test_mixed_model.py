"""The mixed logistic model against published fits, and against what has to be so."""

import math

import numpy as np
import pytest

from leaderboard.ratings import Reason, Undefined
from leaderboard.ratings.studies.mixed import _Model, fit, mixed_difference

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


def test_herds_have_the_estimates_of_lme4():
    """glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), cbpp, binomial, nAGQ = 9), four digits."""
    found = fit(CASES, ANIMALS, DESIGN, HERD, nodes=9)

    assert found.coefficients == pytest.approx([-1.3992, -0.9914, -1.1278, -1.5795], abs=5e-5)
    assert found.errors == pytest.approx([0.2335, 0.3068, 0.3268, 0.4276], abs=5e-5)
    assert found.spread == pytest.approx(0.6475, abs=5e-5)


def test_the_likelihood_by_one_node_is_laplaces():
    """At lme4's estimates by Laplace's method; its highest value, -92.0262819, is that of MixedModels.jl's tests."""
    at = [-1.3983428639994453, -0.9919249753929507, -1.1282162163483180, -1.5797454141259091, 0.642069925403405]
    model = _Model(CASES.astype(float), ANIMALS.astype(float), DESIGN, HERD, *np.polynomial.hermite.hermgauss(1))

    assert model.likelihood(np.array(at))[0] + BINOMIAL == pytest.approx(-92.02628186840045, abs=5e-6)


def test_slope_and_curvature_are_those_of_the_likelihood():
    nodes = np.polynomial.hermite.hermgauss(25)
    model = _Model(CASES.astype(float), ANIMALS.astype(float), DESIGN, HERD, *nodes)
    at, size = np.array([-1.0, -0.5, -1.5, -1.0, 0.9]), 1e-5
    value, slope, curvature = model.likelihood(at)
    around = [(model.likelihood(at + e), model.likelihood(at - e)) for e in size * np.eye(5)]

    assert slope == pytest.approx([(up[0] - down[0]) / (2 * size) for up, down in around], abs=1e-5)
    assert curvature == pytest.approx(np.array([(up[1] - down[1]) / (2 * size) for up, down in around]), abs=1e-5)
    assert value < fit(CASES, ANIMALS, DESIGN, HERD).log_likelihood


FIRST = np.tile(np.repeat([True, False], 6), 5)
PROMPTS = np.repeat(np.arange(5), 12)
NONE = np.zeros(60, dtype=int)


def test_a_side_on_which_it_always_happens_has_a_test_and_no_finite_odds():
    happened = FIRST | (np.arange(60) % 3 == 0)
    found = mixed_difference(happened, FIRST, PROMPTS, NONE)

    assert found.log_odds is None
    assert 0 < found.p < 1e-6
    assert mixed_difference(~happened, FIRST, PROMPTS, NONE).p == pytest.approx(found.p)


def test_settings_have_effects_of_their_own_and_sides_are_alike():
    settings = np.tile([0, 1], 30)
    happened = np.random.default_rng(4).random(60) < np.where(settings, 0.8, 0.3) * np.where(FIRST, 1, 0.6)
    found = mixed_difference(happened, FIRST, PROMPTS, settings)
    turned = mixed_difference(happened, ~FIRST, PROMPTS, 1 - settings)

    assert found.log_odds.low < found.log_odds.value < found.log_odds.high
    assert (turned.p, turned.log_odds.value) == pytest.approx((found.p, -found.log_odds.value), abs=1e-6)
    assert found.p < mixed_difference(happened, FIRST, PROMPTS, NONE).p


def test_what_does_not_vary_has_no_test():
    even = np.arange(60) % 2 == 0

    assert mixed_difference(even, FIRST, NONE, NONE) == Undefined(Reason.TOO_FEW_UNITS)
    assert mixed_difference(even, NONE > 0, PROMPTS, NONE) == Undefined(Reason.TOO_FEW_UNITS)
    assert mixed_difference(NONE > 0, FIRST, PROMPTS, NONE) == Undefined(Reason.NO_SPREAD)
