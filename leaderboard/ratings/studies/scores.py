"""Scores on a bounded scale: differences of means with intervals that stay on it, tests, Cliff's delta."""

import math
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies.rates import Difference
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined

ROUNDS = 2_000
MOST_SIGNS = 14  # prompts of which all assignments of signs are tried
SAME = 1e-12

Scope = Literal["runs", "prompts"]
"""What a result is meant to hold for: further runs of these prompts, or further prompts like these."""


def difference(
    values: FloatArray,
    is_first: BoolArray,
    prompts: IntArray,
    *,
    scope: Scope,
    confidence: float = COVERAGE,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Difference | Undefined:
    """The first condition's mean less the second's, each the mean over prompts of the prompt's mean, by the bootstrap.

    values, is_first, prompts: of each run, nothing missing. scope "runs" draws runs anew within each prompt and
    condition; "prompts" draws prompts with all their runs. Of n, n - 1 are drawn, which makes the spread that of a
    sample. The percentiles are those of Student's t with n - 1 degrees of freedom, summed over what is drawn from.
    Ends never leave the scale of differences. Undefined where a condition has no run, where nothing could be drawn
    otherwise, and where nothing varies.
    Sources: Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13; n - 1: Rao & Wu, JASA 83 (1988);
    expanded percentiles: Hesterberg, The American Statistician 69 (2015).
    """
    cells = _cells(values, is_first, prompts)
    if any(not side for side in cells):
        return Undefined(Reason.TOO_FEW_UNITS)
    found = _mean_of(cells[0]) - _mean_of(cells[1])
    random = np.random.default_rng(seed)
    drawn, degrees = (_of_prompts if scope == "prompts" else _of_runs)(cells, random, rounds)
    if degrees < 1:
        return Undefined(Reason.TOO_FEW_UNITS)
    known = drawn[~np.isnan(drawn)]
    if 2 * len(known) <= rounds:
        return Undefined(Reason.MOSTLY_UNDEFINED)
    if np.ptp(known) < SAME:
        return Undefined(Reason.NO_SPREAD)
    tail = NormalDist().cdf(-t_quantile(confidence, degrees))
    low, high = np.quantile(known, [tail, 1 - tail])
    return Difference(found, float(low), float(high))


Cells = tuple[dict[int, FloatArray], dict[int, FloatArray]]


def _cells(values: FloatArray, is_first: BoolArray, prompts: IntArray) -> Cells:
    """Of each condition, by prompt, the values."""
    names = np.unique(prompts).tolist()
    first, second = (
        {name: found for name in names if len(found := values[chosen & (prompts == name)])}
        for chosen in (is_first, ~is_first)
    )
    return first, second


def _mean_of(cells: dict[int, FloatArray]) -> float:
    return float(np.mean([cell.mean() for cell in cells.values()]))


def _of_runs(cells: Cells, random: np.random.Generator, rounds: int) -> tuple[FloatArray, int]:
    means = []
    for side in cells:
        drawn = [
            cell[random.integers(len(cell), size=(rounds, len(cell) - 1))].mean(axis=1)
            if len(cell) > 1
            else np.full(rounds, cell[0])
            for cell in side.values()
        ]
        means.append(np.mean(drawn, axis=0))
    return means[0] - means[1], sum(len(cell) - 1 for side in cells for cell in side.values())


def _of_prompts(cells: Cells, random: np.random.Generator, rounds: int) -> tuple[FloatArray, int]:
    """Both conditions of a prompt are drawn together; a round that leaves one without any is NaN."""
    names = sorted({*cells[0], *cells[1]})
    means = [np.array([side[name].mean() if name in side else math.nan for name in names]) for side in cells]
    drawn = random.integers(len(names), size=(rounds, len(names) - 1)) if len(names) > 1 else np.zeros((rounds, 0), int)
    sides = []
    for mean in means:
        chosen = mean[drawn]
        counts = (~np.isnan(chosen)).sum(axis=1)
        sums = np.nansum(chosen, axis=1)
        sides.append(np.divide(sums, counts, out=np.full(rounds, math.nan), where=counts > 0))
    return sides[0] - sides[1], len(names) - 1


def permutation_test(
    values: FloatArray,
    is_first: BoolArray,
    prompts: IntArray,
    *,
    scope: Scope,
    rounds: int = 4_999,
    seed: int = 0,
) -> float | Undefined:
    """The two-sided p-value of "no difference" by assigning conditions anew, for the statistic of `difference`.

    scope "runs": conditions are exchanged among the runs of each prompt. scope "prompts": the sign of each prompt's
    difference is; prompts that lack a condition say nothing, and up to 14 prompts all signs are tried. The least
    p-value is 1 / (rounds + 1), and 2 / 2ⁿ of n prompts. Undefined where nothing can be exchanged.
    Sources: Pitman, Suppl. J. R. Stat. Soc. 4 (1937); Phipson & Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010).
    """
    random = np.random.default_rng(seed)
    if scope == "prompts":
        first, second = _cells(values, is_first, prompts)
        shared = sorted(first.keys() & second.keys())
        return _sign_test(np.array([first[name].mean() - second[name].mean() for name in shared]), random, rounds)
    mixed = [name for name in np.unique(prompts) if len(np.unique(is_first[prompts == name])) == 2]
    if not mixed:
        return Undefined(Reason.TOO_FEW_UNITS)
    seen, drawn = 0.0, np.zeros(rounds)
    for name in mixed:
        here, sides = values[prompts == name], is_first[prompts == name]
        treated = int(sides.sum())
        seen += here[sides].mean() - here[~sides].mean()
        order = np.argsort(random.random((rounds, len(here))), axis=1)
        shuffled = here[order]
        drawn += shuffled[:, :treated].mean(axis=1) - shuffled[:, treated:].mean(axis=1)
    return float((1 + np.count_nonzero(np.abs(drawn) >= abs(seen) - SAME)) / (rounds + 1))


def _sign_test(differences: FloatArray, random: np.random.Generator, rounds: int) -> float | Undefined:
    count = len(differences)
    if not count:
        return Undefined(Reason.TOO_FEW_UNITS)
    seen = abs(differences.sum()) - SAME * max(1.0, float(np.abs(differences).sum()))
    if count <= MOST_SIGNS:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float(np.mean(np.abs(signs @ differences) >= seen))
    signs = random.choice((-1, 1), size=(rounds, count))
    return float((1 + np.count_nonzero(np.abs(signs @ differences) >= seen)) / (rounds + 1))


def cliffs_delta(first: ArrayLike, second: ArrayLike, *, confidence: float = COVERAGE) -> Difference | Undefined:
    """P(a run of the first scores higher) - P(lower), -1 to 1, with an interval that stays within.

    first, second: scores of independent runs. The variance is Cliff's consistent one (never below the least that it can
    be), the interval asymmetric: (δ - δ³ ± t s √((1 - δ²)² + t² s²)) / (1 - δ² + t² s²) with n1 + n2 - 2 degrees of
    freedom. Undefined for fewer than two runs in a group; without overlap the interval ends at ±1.
    Sources: Cliff, Psychol. Bull. 114 (1993); Feng & Cliff, J. Mod. Appl. Stat. Methods 3 (2004).
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    n, m = len(a), len(b)
    if min(n, m) < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    signs = np.sign(a[:, None] - b[None, :])
    delta = float(signs.mean())
    t = t_quantile(confidence, n + m - 2)
    if abs(delta) == 1:  # no variance: as many runs as these could all agree if the truth were this far away
        t2 = t * t
        end = (min(n, m) - t2) / (min(n, m) + t2)
        return Difference(delta, *((end, 1.0) if delta > 0 else (-1.0, -end)))
    rows, columns = signs.mean(axis=1) - delta, signs.mean(axis=0) - delta
    spread = m * m * float(rows @ rows) + n * n * float(columns @ columns) - float(((signs - delta) ** 2).sum())
    variance = max(spread / (n * m * (n - 1) * (m - 1)), (1 - delta**2) / (n * m - 1))
    ts2 = t * t * variance
    half = math.sqrt(ts2 * ((1 - delta**2) ** 2 + ts2))
    below = 1 - delta**2 + ts2
    return Difference(delta, (delta - delta**3 - half) / below, (delta - delta**3 + half) / below)
