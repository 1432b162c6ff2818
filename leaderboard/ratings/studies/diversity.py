"""How far the answers of runs differ among themselves: the mean dissimilarity of two of them."""

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice, pairwise

import numpy as np

from leaderboard.ratings.statistics import incomplete_beta, t_quantile
from leaderboard.ratings.studies import scores
from leaderboard.ratings.studies.rates import Bounds, Difference
from leaderboard.ratings.studies.scores import Scope
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined

MOST_WORDS = 1_000  # of an answer: what comes after them is not compared
LEAST_ANSWERS = 4  # of a cell: with fewer, what varies between runs cannot be told from what varies between pairs
DIGITS = 8  # of a fingerprint
TINY = 1e-15
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


def fingerprints(text: str) -> str:
    """The different pairs of successive words in the first MOST_WORDS of a text, as eight hexadecimal digits each, in
    order; "" for a text without words. Case does not count; a Chinese or Japanese character is a word; a text of one
    word is compared by it. They are CRC-32 sums: a text cannot be read from them.
    """
    words = [found[0] for found in islice(WORD.finditer(text.casefold()), MOST_WORDS)]
    pairs = [" ".join(pair) for pair in pairwise(words)] or words
    return "".join(f"{one:0{DIGITS}x}" for one in sorted({zlib.crc32(pair.encode()) for pair in pairs}))


def dissimilarities(answers: Sequence[str]) -> FloatArray:
    """answers × answers, each 0 (the same pairs of words) to 1 (none in common): 1 - 2 |A ∩ B| / (|A| + |B|).

    answers: as `fingerprints` gives them, none empty.
    Sources: Dice, Ecology 26 (1945); Sørensen, Kongelige Danske Videnskabernes Selskab 5 (1948).
    """
    sets = [np.frombuffer(bytes.fromhex(one), dtype=">u4") for one in answers]
    numbers, counts = np.unique(np.concatenate(sets), return_inverse=True, return_counts=True)[1:]
    columns = np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)[numbers.reshape(-1)]  # -1: in one answer alone
    masks = [_mask(own[own >= 0]) for own in np.split(columns, np.cumsum([len(one) for one in sets])[:-1])]
    found = np.zeros((len(sets), len(sets)))
    for i, j in combinations(range(len(sets)), 2):
        shared = (masks[i] & masks[j]).bit_count()
        found[i, j] = found[j, i] = 1 - 2 * shared / (len(sets[i]) + len(sets[j]))
    return found


def _mask(columns: IntArray) -> int:
    """A number with these bits."""
    bits = np.zeros(int(columns.max(initial=-1)) + 1, dtype=bool)
    bits[columns] = True
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


@dataclass(frozen=True, slots=True)
class Cell:
    """The mean dissimilarity of two runs of one condition and stratum, 0 to 1, and what it is known by: see `cell`."""

    value: float
    between_runs: float
    of_pairs: float
    runs: int


def cell(table: FloatArray) -> Cell:
    """table: as `dissimilarities`, of LEAST_ANSWERS runs or more.

    The mean over pairs is a U-statistic: it expects the same however many runs there are, so conditions with unequal
    numbers are compared at equal n. d_ij = μ + a_i + a_j + e_ij by least squares; of one run more or less the mean
    changes by a, whose variance between_runs is Σ a² / (n - 1); of_pairs is that of e, Σ e² / (n (n - 3)) over
    ordered pairs.
    Sources: Hoeffding, Ann. Math. Stat. 19 (1948); Warner, Kenny & Stoto, J. Pers. Soc. Psychol. 37 (1979), on a and e.
    """
    runs = len(table)
    sums = table.sum(axis=1)
    value = float(sums.sum()) / (runs * (runs - 1))
    own = (sums - (runs - 1) * value) / (runs - 2)
    rest = table - value - own[:, None] - own[None, :]
    np.fill_diagonal(rest, 0)
    return Cell(value, float(own @ own) / (runs - 1), float((rest**2).sum()) / (runs * (runs - 3)), runs)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean of cells, or a difference of such means. error: its standard error; degrees: of Student's t."""

    value: float
    error: float
    degrees: float


def estimate(cells: Sequence[Cell], weights: Sequence[float]) -> Estimate:
    """The sum of the cells' values, each times its weight.

    The variance of a cell's mean is 4 (s² - e² / (n - 2)) / n + 2 e² / (n (n - 1)), with s² between_runs and e²
    of_pairs: the jackknife's 4 s² / n counts e² twice. Over all cells the first part is at least 0. Degrees of freedom
    are those of a difference of mean squares, (n - 1) of each s².
    Sources: Efron & Stein, "The jackknife estimate of variance", Ann. Stat. 9 (1981); Satterthwaite, Biometrics
    Bulletin 2 (1946).
    """
    squares = [weight**2 for weight in weights]
    jackknife = [w2 * 4 * one.between_runs / one.runs for w2, one in zip(squares, cells, strict=True)]
    twice = sum(w2 * 4 * one.of_pairs / (one.runs * (one.runs - 2)) for w2, one in zip(squares, cells, strict=True))
    once = sum(w2 * 2 * one.of_pairs / (one.runs * (one.runs - 1)) for w2, one in zip(squares, cells, strict=True))
    variance = max(0.0, sum(jackknife) - twice) + once
    spread = sum(part**2 / (one.runs - 1) for part, one in zip(jackknife, cells, strict=True))
    degrees = variance**2 / spread if spread > TINY**2 else float(sum(one.runs - 1 for one in cells))
    value = sum(weight * one.value for weight, one in zip(weights, cells, strict=True))
    return Estimate(value, math.sqrt(variance), max(1.0, degrees))


@dataclass(frozen=True, slots=True)
class Diversity:
    """strata: those that are compared; left_out: those in which a condition has fewer than LEAST_ANSWERS answers."""

    strata: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """first, second: the mean diversity of the strata of each condition; None where none has enough answers. p: of "no
    difference", by the test of that name.
    """

    first: Difference | None
    second: Difference | None
    difference: Difference | Undefined
    test: str
    p: float | Undefined
    rests_on: Diversity


def compared(
    answers: Sequence[str],
    is_first: BoolArray,
    strata: IntArray,
    prompts: IntArray,
    *,
    scope: Scope,
    confidence: float = COVERAGE,
    seed: int = 0,
) -> Comparison:
    """The first condition's diversity less the second's, each the mean of its strata, between -1 and 1.

    answers: of each run, as `fingerprints`, none empty. Only runs of one condition and stratum are paired, and only
    strata in which both conditions have enough of them count. scope "runs": by Student's t, see `estimate`; "prompts":
    prompts are what is drawn, see `scores`, whose seed it is. Undefined where no stratum counts, and where nothing
    varies.
    """
    cells: tuple[list[Cell], list[Cell]] = ([], [])
    of_prompts: list[int] = []
    for number in np.unique(strata):
        here = [np.flatnonzero((strata == number) & chosen) for chosen in (is_first, ~is_first)]
        if min(map(len, here)) >= LEAST_ANSWERS:
            of_prompts.append(int(prompts[here[0][0]]))
            for side, runs in zip(cells, here, strict=True):
                side.append(cell(dissimilarities([answers[run] for run in runs.tolist()])))
    counted = len(of_prompts)
    rests_on = Diversity(counted, len(np.unique(strata)) - counted)
    if not counted:
        too_few = Undefined(Reason.TOO_FEW_UNITS)
        return Comparison(None, None, too_few, "t", too_few, rests_on)
    share = [1 / counted] * counted
    first, second = (_interval(estimate(side, share), 0, confidence) for side in cells)
    found = estimate([*cells[0], *cells[1]], [*share, *(-one for one in share)])
    if scope == "prompts":
        values = np.array([one.value for side in cells for one in side])
        about = np.arange(2 * counted) < counted, np.array(of_prompts * 2)
        difference = scores.difference(values, *about, scope=scope, confidence=confidence, seed=seed)
        p = scores.permutation_test(values, *about, scope=scope, seed=seed)
        return Comparison(first, second, difference, "permutation", p, rests_on)
    if found.error < TINY:
        same = Undefined(Reason.NO_SPREAD)
        return Comparison(first, second, same, "t", same, rests_on)
    t = found.value / found.error
    p_value = incomplete_beta(found.degrees / (found.degrees + t * t), found.degrees / 2, 0.5)
    return Comparison(first, second, _interval(found, -1, confidence), "t", p_value, rests_on)


def _interval(found: Estimate, least: float, confidence: float) -> Difference:
    """Cut at the ends of the scale."""
    half = t_quantile(confidence, found.degrees) * found.error
    return Difference(found.value, max(least, found.value - half), min(1.0, found.value + half))


def bounds(answers: Sequence[str], is_first: BoolArray, strata: IntArray) -> Bounds:
    """Of the difference, whatever the missing answers were: each pair with one of them lies between 0 and 1. answers:
    "" where one is missing. Source: as `rates.bounds`.
    """
    ends = []
    for chosen in (is_first, ~is_first):
        shares = []
        for number in np.unique(strata[chosen]):
            runs = np.flatnonzero((strata == number) & chosen)
            known = [answers[run] for run in runs.tolist() if answers[run]]
            pairs, sum_ = math.comb(len(runs), 2), float(dissimilarities(known).sum()) / 2 if known else 0.0
            open_ = pairs - math.comb(len(known), 2)
            shares.append((sum_ / pairs, (sum_ + open_) / pairs) if pairs else (0.0, 1.0))
        ends.append(np.mean(shares, axis=0))
    return Bounds(float(ends[0][0] - ends[1][1]), float(ends[0][1] - ends[1][0]))
