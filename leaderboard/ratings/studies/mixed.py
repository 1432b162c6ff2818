"""Rates over prompts by a mixed logistic model: prompts differ by a normal random intercept, in log-odds.

Source: McCulloch, Searle & Neuhaus, "Generalized, Linear, and Mixed Models" (2008), chapter 7; the likelihood by
adaptive Gauss-Hermite quadrature: Pinheiro & Bates, J. Comput. Graph. Stat. 4 (1995).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined

NODES = 25
ROUNDS = 200
CLOSE = 1e-10  # a step that gains no more in log-likelihood is the last one
FAR = 10.0  # a coefficient, in log-odds, that grows beyond this has no estimate: a side has only one outcome


@dataclass(frozen=True, slots=True)
class Fit:
    """coefficients: one for each column of the design. errors: their standard errors. spread: the standard deviation
    of the intercepts, 0 or more. log_likelihood: without binomial coefficients, of single trials.
    """

    coefficients: FloatArray
    errors: FloatArray
    spread: float
    log_likelihood: float


@dataclass(frozen=True, slots=True)
class Mixed:
    """log_odds: of the first condition against the second, with its interval; None where a side has only one outcome.
    p: of "no difference", two-sided. spread: the standard deviation of prompts in log-odds.
    """

    p: float
    spread: float
    log_odds: Difference | None


def mixed_difference(
    happened: BoolArray,
    is_first: BoolArray,
    prompts: IntArray,
    settings: IntArray,
    *,
    confidence: float = COVERAGE,
) -> Mixed | Undefined:
    """The first condition against the second, the same in all prompts, which are a sample of further ones; settings,
    the levels of all other factors, have effects of their own. All are of each run, nothing missing.

    p is that of the ratio of likelihoods, the interval Wald's. Undefined where a condition has no run, with fewer than
    two prompts, and where nothing varies.
    """
    names = np.unique(prompts)
    if not is_first.any() or is_first.all() or len(names) < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    if happened.all() or not happened.any():
        return Undefined(Reason.NO_SPREAD)
    cells, of_cell = np.unique(np.stack([is_first, settings, prompts]), axis=1, return_inverse=True)
    of_cell = of_cell.reshape(-1)
    successes, trials = np.bincount(of_cell, weights=happened), np.bincount(of_cell)
    others = (cells[1][:, None] == np.unique(settings)[1:]).astype(float)
    without = np.column_stack([np.ones(cells.shape[1]), others])
    with_ = np.column_stack([cells[0], without])
    found, null = (fit(successes, trials, design, cells[2]) for design in (with_, without))
    p = math.erfc(math.sqrt(max(0.0, found.log_likelihood - null.log_likelihood)))
    value, error = float(found.coefficients[0]), float(found.errors[0])
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    log_odds = Difference(value, value - half, value + half) if abs(value) < FAR and math.isfinite(half) else None
    return Mixed(p, found.spread, log_odds)


def fit(successes: ArrayLike, trials: ArrayLike, design: FloatArray, clusters: ArrayLike, *, nodes: int = NODES) -> Fit:
    """By maximum likelihood, with Newton's steps. successes, trials: of each cell; design: a row for each cell;
    clusters: which cells share an intercept. nodes: of the quadrature.
    """
    order = np.argsort(np.asarray(clusters), kind="stable")
    model = _Model(
        np.asarray(successes, dtype=float)[order],
        np.asarray(trials, dtype=float)[order],
        np.asarray(design, dtype=float)[order],
        np.unique(np.asarray(clusters)[order], return_inverse=True)[1],
        *np.polynomial.hermite.hermgauss(nodes),
    )
    at = np.append(np.zeros(model.design.shape[1]), 1.0)
    value, slope, curvature = model.likelihood(at)
    for _round in range(ROUNDS):
        step = _uphill(slope, curvature)
        while (tried := model.likelihood(at + step))[0] < value and np.abs(step).max() > CLOSE:
            step = step / 2
        gained, at = tried[0] - value, at + step
        value, slope, curvature = tried
        if gained < CLOSE:
            break
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(-curvature)), 0.0))
    return Fit(at[:-1], errors[:-1], abs(float(at[-1])), value)


def _uphill(slope: FloatArray, curvature: FloatArray) -> FloatArray:
    """Newton's step; where the likelihood is not concave, eigenvalues are turned, so that it still climbs."""
    values, vectors = np.linalg.eigh(-curvature)
    steps: FloatArray = vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 1e-8))
    return np.clip(steps, -2.0, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """Cells in the order of their clusters, which are numbered from 0. points, weights: of the quadrature."""

    successes: FloatArray
    trials: FloatArray
    design: FloatArray
    clusters: IntArray
    points: FloatArray
    weights: FloatArray

    def likelihood(self, at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Its logarithm, with the slope and the curvature of that, at the coefficients followed by the spread; these
        two by what is expected of the intercepts (Louis, J. R. Stat. Soc. B 44, 1982).
        """
        fixed, spread = self.design @ at[:-1], at[-1]
        modes, width = self._modes(fixed, spread)
        where = modes[:, None] + math.sqrt(2) * width[:, None] * self.points
        odds = fixed[:, None] + spread * where[self.clusters]
        starts = np.searchsorted(self.clusters, np.arange(len(modes)))
        of_cells = self.successes[:, None] * odds - self.trials[:, None] * np.logaddexp(0, odds)
        logs = np.add.reduceat(of_cells, starts) - where**2 / 2 + np.log(self.weights) + self.points**2
        highest = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - highest)
        sums = shares.sum(axis=1, keepdims=True)
        value = float(np.sum(highest + np.log(sums)) + np.sum(np.log(width)) - len(modes) * math.log(math.pi) / 2)
        shares = shares / sums
        rates = 1 / (1 + np.exp(-odds))
        by = np.empty((*odds.shape, len(at)))  # cell, node, and what the log-odds are to each parameter
        by[:, :, :-1], by[:, :, -1] = self.design[:, None, :], where[self.clusters]
        slopes = np.add.reduceat((self.successes[:, None] - self.trials[:, None] * rates)[:, :, None] * by, starts)
        expected = np.einsum("cq,cqa->ca", shares, slopes)
        bend = self.trials[:, None] * rates * (1 - rates) * shares[self.clusters]
        curvature = np.einsum("cqa,cqb->ab", slopes * shares[:, :, None], slopes) - expected.T @ expected
        curvature -= np.einsum("iqa,iqb->ab", by * bend[:, :, None], by)
        return value, expected.sum(axis=0), curvature

    def _modes(self, fixed: FloatArray, spread: float) -> tuple[FloatArray, FloatArray]:
        """Of each cluster, the likeliest intercept in standard deviations, and how widely it is spread around it."""
        count = int(self.clusters[-1]) + 1
        modes = np.zeros(count)
        for _round in range(ROUNDS):
            rates = 1 / (1 + np.exp(-(fixed + spread * modes[self.clusters])))
            slope = spread * np.bincount(self.clusters, self.successes - self.trials * rates, count) - modes
            curvature = 1 + spread**2 * np.bincount(self.clusters, self.trials * rates * (1 - rates), count)
            step = np.clip(slope / curvature, -1, 1)
            modes = modes + step
            if np.abs(step).max() < 1e-12:
                break
        return modes, 1 / np.sqrt(curvature)
