"""How far raters agree, and what their verdicts owe to something else than the answers.

Undefined is returned, with the reason, where a figure does not exist: agreement among values that are all the same is
neither perfect nor absent, it cannot be distinguished from chance.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.ballots import Ballots, positions
from leaderboard.ratings.statistics import Interval, middle_of, resampled
from leaderboard.ratings.values import FloatArray, IntArray, Reason, Undefined

Weights = Literal["none", "linear", "quadratic"]

Level = Literal["nominal", "ordinal", "interval", "ratio"]


def cohen_kappa(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable] = (),
) -> float | Undefined:
    """1 - observed / expected disagreement of two raters of the same units: 1 perfect, 0 as by chance.

    None is a missing value, and its unit is left out. weights: what a disagreement counts, 1 each, or by the distance
    of the categories, or its square; `categories` then gives their sequence. Undefined when no unit has both values,
    or when both raters gave everything one and the same value. Raises ValueError for unequal lengths, for a value
    outside of the categories, and for weights without categories.
    Sources: Cohen, Educ. Psychol. Meas. 20 (1960); weighted: Cohen, Psychol. Bull. 70 (1968).
    """
    return _cohen(*_paired(first, second, categories, weights))


def cohen_interval(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    *,
    weights: Weights = "none",
    categories: Sequence[Hashable] = (),
    rounds: int = 1000,
    seed: int = 0,
) -> Interval | Undefined:
    """The 95 % interval of Cohen's kappa, by drawing units anew with replacement."""
    pairs, distances = _paired(first, second, categories, weights)
    return resampled(lambda drawn: _cohen(pairs[drawn], distances), len(pairs), rounds=rounds, seed=seed)


def fleiss_kappa(counts: ArrayLike) -> float | Undefined:
    """(P - Pe) / (1 - Pe), with P the mean share of agreeing pairs and Pe that expected of the categories' shares.

    counts: units × categories, how many raters put the unit into the category. Undefined when the units have unequal
    numbers of raters, fewer than two, or one category has everything. Raises ValueError for another shape.
    Source: Fleiss, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76 (1971).
    """
    table = np.asarray(counts)
    if table.ndim != 2 or (table.size and (table.dtype.kind not in "iu" or table.min() < 0)):
        raise ValueError("counts are whole numbers from 0 up, units × categories")
    raters = set(table.sum(axis=1).tolist())
    if len(raters) > 1:
        return Undefined(Reason.UNEQUAL_RATERS)
    return _fleiss(table.astype(np.int64)) if raters and min(raters) > 1 else Undefined(Reason.NOTHING_PAIRED)


def fleiss_interval(counts: ArrayLike, *, rounds: int = 1000, seed: int = 0) -> Interval | Undefined:
    """The 95 % interval of Fleiss' kappa, by drawing units anew with replacement."""
    found = fleiss_kappa(counts)
    if isinstance(found, Undefined):
        return found
    table = np.asarray(counts, dtype=np.int64)
    return resampled(lambda drawn: _fleiss(table[drawn]), len(table), rounds=rounds, seed=seed)


def _fleiss(table: IntArray) -> float | Undefined:
    raters = int(table[0].sum())
    observed = float((table * (table - 1)).sum()) / (len(table) * raters * (raters - 1))
    expected = float((table.sum(axis=0) ** 2).sum()) / (len(table) * raters) ** 2
    return Undefined(Reason.CONSTANT) if expected == 1.0 else (observed - expected) / (1.0 - expected)


def _cohen(pairs: IntArray, disagreements: FloatArray) -> float | Undefined:
    """pairs: units × 2, the indices of the two categories."""
    if not len(pairs):
        return Undefined(Reason.NOTHING_PAIRED)
    table = np.zeros(disagreements.shape)
    np.add.at(table, (pairs[:, 0], pairs[:, 1]), 1.0)
    expected = float(table.sum(axis=1) @ disagreements @ table.sum(axis=0)) / len(pairs)
    if expected == 0.0:
        return Undefined(Reason.CONSTANT)
    return 1.0 - float((disagreements * table).sum()) / expected


def _paired(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    categories: Sequence[Hashable],
    weights: Weights,
) -> tuple[IntArray, FloatArray]:
    """The units that both rated, as pairs of indices of categories; and what disagreements count, by two categories."""
    if weights != "none" and not categories:
        raise ValueError("weighted agreement needs the sequence of the categories")
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    known = categories or tuple(dict.fromkeys(value for pair in both for value in pair))
    places = {category: place for place, category in enumerate(known)}
    if unknown := {value for pair in both for value in pair} - set(places):
        raise ValueError(f"not one of the categories: {sorted(map(repr, unknown))[0]}")
    pairs = np.array([(places[a], places[b]) for a, b in both], dtype=np.int64).reshape(-1, 2)
    return pairs, _apart(len(places), weights)


def _apart(categories: int, weights: Weights) -> FloatArray:
    """How much a disagreement counts, by two categories: square, 0 on the diagonal, 1 at most."""
    places = np.arange(categories)
    distances: FloatArray = np.abs(np.subtract.outer(places, places)) / max(categories - 1, 1)
    if weights == "none":
        return np.asarray(distances > 0, dtype=np.float64)
    return distances if weights == "linear" else distances**2


# --- Krippendorff's alpha: agreement of any number of raters, missing values allowed, on any level of measurement ---


def krippendorff_alpha(matrix: ArrayLike, level: Level = "interval") -> float | Undefined:
    """1 - observed / expected disagreement: 1 perfect, 0 as by chance, below 0 systematic disagreement.

    matrix: raters × units, nan where a rater gave no value; categories as numbers. Units with fewer than two values
    are left out. level says how far two values are apart: nominal equal or not, ordinal by the ranks between them,
    interval by their difference, ratio by their difference over their sum (values from 0 up).
    Undefined when no unit has two values, or when all are the same. Raises ValueError for another shape or level, and
    for negative values on a ratio scale.
    Source: Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section E.
    """
    units, values = _counted(np.asarray(matrix, dtype=np.float64))
    return _alpha(units, values, level)


def alpha_interval(
    matrix: ArrayLike, level: Level = "interval", *, rounds: int = 1000, seed: int = 0
) -> Interval | Undefined:
    """The 95 % interval of alpha, by drawing units anew with replacement."""
    units, values = _counted(np.asarray(matrix, dtype=np.float64))
    paired = units[units.sum(axis=1) > 1]
    return resampled(lambda drawn: _alpha(paired[drawn], values, level), len(paired), rounds=rounds, seed=seed)


def _counted(matrix: FloatArray) -> tuple[IntArray, FloatArray]:
    """How many raters gave each value to each unit, units × values, and the values in rising order."""
    if matrix.ndim != 2:
        raise ValueError("the matrix has two dimensions: raters × units")
    if np.isinf(matrix).any():
        raise ValueError("a value is infinite; nan stands for a missing one")
    values = np.unique(matrix[~np.isnan(matrix)])
    counts = (matrix[:, :, None] == values).sum(axis=0, dtype=np.int64)
    return counts, values


def _alpha(units: IntArray, values: FloatArray, level: Level) -> float | Undefined:
    raters = units.sum(axis=1)
    paired, raters = units[raters > 1], raters[raters > 1]
    if not len(paired):
        return Undefined(Reason.NOTHING_PAIRED)
    weighted = paired / (raters - 1)[:, None]
    coincidences: FloatArray = weighted.T @ paired
    return _alpha_of(coincidences, paired.sum(axis=0), values, level)


def _alpha_of(
    coincidences: FloatArray, marginals: FloatArray | IntArray, values: FloatArray, level: Level
) -> float | Undefined:
    """coincidences: how often two values meet in a unit, n × n; what stands on the diagonal does not count."""
    distances = _distances(marginals, values, level)
    expected = float(marginals @ distances @ marginals)
    if expected == 0.0:
        return Undefined(Reason.CONSTANT)
    return 1.0 - (float(marginals.sum()) - 1.0) * float((distances * coincidences).sum()) / expected


def _distances(marginals: FloatArray | IntArray, values: FloatArray, level: Level) -> FloatArray:
    """Squared distances of values, n × n, 0 on the diagonal."""
    apart: FloatArray
    if level == "nominal":
        apart = 1.0 - np.eye(len(values))
    elif level == "ordinal":
        middles = np.cumsum(marginals) - marginals / 2
        apart = np.subtract.outer(middles, middles)
    elif level == "interval":
        apart = np.subtract.outer(values, values)
    elif level == "ratio":
        if values.size and values[0] < 0:
            raise ValueError("a ratio scale has no negative values")
        sums = np.add.outer(values, values)
        apart = np.divide(np.subtract.outer(values, values), sums, out=np.zeros_like(sums), where=sums > 0)
    else:
        raise ValueError(f"no such level of measurement: {level}")
    return apart**2


# --- Kendall's coefficient of concordance ---


def kendalls_w(ballots: Ballots) -> float | Undefined:
    """W of complete rankings, corrected for ties: 0 no agreement (as in ABC, BCA, CAB), 1 all ballots are the same.

    W = 12 S / (m² (n³ - n) - m ΣT), with m ballots of n candidates, S the sum of squared deviations of the candidates'
    rank sums from their mean, and T = Σ(t³ - t) over the ties of a ballot. Abstentions are left out. Undefined when
    the ballots do not name the same candidates, for fewer than two of either, and when every ballot ties everybody.
    Source: Kendall, Rank Correlation Methods (1948), chapter 6.
    """
    cast = [index for index, order in enumerate(ballots.orders) if order]
    named = {ballots.named(index) for index in cast}
    if len(named) > 1 or any(ballots.offered[index] - ballots.named(index) for index in cast if ballots.offered):
        return Undefined(Reason.INCOMPLETE_BALLOTS)
    if len(cast) < 2:
        return Undefined(Reason.ONE_BALLOT if cast else Reason.NO_COMPARISONS)
    ranked = sorted(*named)
    if len(ranked) < 2:
        return Undefined(Reason.ONE_CANDIDATE)
    sums = positions(ballots)[np.ix_(cast, ranked)].sum(axis=0)
    ties = sum(len(group) ** 3 - len(group) for index in cast for group in ballots.orders[index])
    m, n = len(cast), len(ranked)
    most = m * m * (n**3 - n) - m * ties
    return float(12 * ((sums - sums.mean()) ** 2).sum() / most) if most else Undefined(Reason.CONSTANT)


# --- agreement and correlation from counts: for so many units that their table is kept, and the units are not ---


def kappa_of_table(counts: ArrayLike, *, weights: Weights = "none") -> float | Undefined:
    """Cohen's kappa of a square table: counts[i, j] units that the first rater put into i, the second into j.

    1 perfect, 0 as by chance. weights: as of `cohen_kappa`, with the categories in the table's order. Undefined for an
    empty table, and where both gave everything one and the same value. Raises ValueError for another shape. Source:
    Cohen, Educ. Psychol. Meas. 20 (1960).
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (table < 0).any():
        raise ValueError("counts are numbers from 0 up in a square table")
    if not table.sum():
        return Undefined(Reason.NOTHING_PAIRED)
    value = float(_kappas(table[None], weights)[0])
    return Undefined(Reason.CONSTANT) if np.isnan(value) else value


def kappa_interval_of_items(
    tables: ArrayLike, *, weights: Weights = "none", rounds: int = 1000, seed: int = 0
) -> Interval | Undefined:
    """The 95 % interval of Cohen's kappa of the sum of tables, by drawing whole items anew with replacement.

    tables: items × values × values, each item's own table. What was said of one item stays together (a cluster
    bootstrap): several answers on it are not independent. Items with equal tables are drawn as one cell, so that the
    cost does not grow with their number. Undefined for fewer than two items, and when half of the rounds or more give
    no figure. Raises ValueError for another shape. Source: Davison & Hinkley, "Bootstrap Methods" (1997), §3.8.
    """
    found = np.asarray(tables, dtype=np.float64)
    if found.ndim != 3 or found.shape[1] != found.shape[2] or (found < 0).any():
        raise ValueError("tables are numbers from 0 up, items × values × values")
    if len(found) < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    values = _kappas(_drawn_tables(found, rounds, seed), weights)
    return middle_of(values[~np.isnan(values)], rounds)


def alpha_of_table(counts: ArrayLike, values: ArrayLike, level: Level) -> float | Undefined:
    """Krippendorff's alpha of two raters from their square table: counts[i, j] units that the first rater gave
    values[i], the second values[j]. values: rising numbers.

    1 perfect, 0 as by chance. Undefined for an empty table, and where all values are the same. Raises ValueError for
    another shape. Source: Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section E.
    """
    table, known = np.asarray(counts, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if table.shape != (len(known), len(known)) or (table < 0).any():
        raise ValueError("counts are numbers from 0 up in a square table, with as many values as rows")
    if not table.sum():
        return Undefined(Reason.NOTHING_PAIRED)
    both = table + table.T
    return _alpha_of(both, both.sum(axis=0), known, level)


def alpha_interval_of_items(
    tables: ArrayLike, values: ArrayLike, level: Level, *, rounds: int = 1000, seed: int = 0
) -> Interval | Undefined:
    """The 95 % interval of alpha of the sum of tables, by drawing whole items anew: see `kappa_interval_of_items`."""
    found = np.asarray(tables, dtype=np.float64)
    if len(found) < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    alphas = [alpha_of_table(table, values, level) for table in _drawn_tables(found, rounds, seed)]
    return middle_of([alpha for alpha in alphas if not isinstance(alpha, Undefined)], rounds)


def _drawn_tables(tables: FloatArray, rounds: int, seed: int) -> FloatArray:
    """Sums of as many tables as there are, drawn with replacement: rounds × values × values."""
    kinds, counts = np.unique(tables.reshape(len(tables), -1), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(tables), counts / len(tables), size=rounds)
    return np.asarray(drawn @ kinds).reshape(rounds, *tables.shape[1:])


def spearman(first: ArrayLike, second: ArrayLike) -> float | Undefined:
    """The correlation of two lists' ranks, -1 to 1; equal values share the mean of their ranks.

    Units with a nan in either are left out. Undefined for fewer than three units, and where one list is constant.
    Source: Spearman, "The Proof and Measurement of Association between Two Things", Am. J. Psychol. 15 (1904).
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != two.shape or one.ndim != 1:
        raise ValueError("both lists are one-dimensional and of one length")
    known = ~(np.isnan(one) | np.isnan(two))
    if known.sum() < 3:
        return Undefined(Reason.TOO_FEW_UNITS)

    def ranks(values: FloatArray) -> FloatArray:
        _values, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        found = (np.cumsum(counts) - (counts - 1) / 2)[place]
        return np.asarray(found - found.mean())

    a, b = ranks(one[known]), ranks(two[known])
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum() / size) if size else Undefined(Reason.CONSTANT)


def _kappas(tables: FloatArray, weights: Weights) -> FloatArray:
    """Of a stack of tables, each its kappa; nan where chance alone explains everything."""
    units = np.where(tables.any(axis=(1, 2)), tables.sum(axis=(1, 2)), np.nan)
    near = 1.0 - _apart(tables.shape[1], weights)
    observed = (tables * near).sum(axis=(1, 2)) / units
    expected = ((tables.sum(axis=2) @ near) * tables.sum(axis=1)).sum(axis=1) / units**2
    beyond = 1.0 - expected
    values: FloatArray = np.full(len(tables), np.nan)
    np.divide(observed - expected, beyond, out=values, where=beyond > 1e-12)
    return values


# --- what rankings owe to authorship and to the sequence in which answers were shown ---


@dataclass(frozen=True, slots=True, eq=False)
class SelfPreference:
    """Per candidate: own, the position its author gave it; peers, the mean position others gave it; values, own less
    peers. Below 0: the author puts it higher than the others do. nan where a part is missing.

    own_n, peers_n: from how many ballots.
    """

    values: FloatArray
    own: FloatArray
    peers: FloatArray
    own_n: IntArray
    peers_n: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PositionEffect:
    """By the place at which an answer was shown (first to last): the mean position it was given, and n, how many were.

    Where the places are balanced over candidates, all means are alike unless the place matters. nan where n is 0.
    """

    means: FloatArray
    n: IntArray


def self_preference(ballots: Ballots, authors: Sequence[int | None]) -> SelfPreference:
    """Own position less the peers' mean position of each candidate, in positions.

    ballots: as they were cast, with own answers. authors: per ballot the candidate that the reviewer wrote, or None.
    Positions count among all that the ballot places, so ballots of unlike lengths are not quite comparable.
    """
    table = positions(ballots)
    written = np.array([-1 if author is None else author for author in authors], dtype=np.int64)
    if len(written) != len(table):
        raise ValueError(f"{len(written)} authors for {len(table)} ballots")
    is_own = written[:, None] == np.arange(table.shape[1])
    own, own_n = _means(np.where(is_own, table, np.nan))
    peers, peers_n = _means(np.where(is_own, np.nan, table))
    return SelfPreference(own - peers, own, peers, own_n, peers_n)


def position_effect(ballots: Ballots, shown: Sequence[Sequence[int]]) -> PositionEffect:
    """The mean position given to what was shown first, second, …

    shown: per ballot the candidates in the sequence in which its reviewer saw them. Raises ValueError when there is
    not one sequence per ballot, or when one shows a candidate twice.
    """
    table = positions(ballots)
    if len(shown) != len(table):
        raise ValueError(f"{len(shown)} sequences for {len(table)} ballots")
    if any(len(set(sequence)) != len(sequence) for sequence in shown):
        raise ValueError("a candidate was shown twice to one reviewer")
    by_place = np.full((len(table), max(map(len, shown), default=0)), np.nan)
    for index, sequence in enumerate(shown):
        by_place[index, : len(sequence)] = table[index, list(sequence)]
    return PositionEffect(*_means(by_place))


def _means(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The mean of each column's known values, and how many there are."""
    known = np.count_nonzero(~np.isnan(table), axis=0)
    return np.where(known > 0, np.nansum(table, axis=0) / np.maximum(known, 1), np.nan), known
