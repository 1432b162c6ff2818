"""Agreement and correlation from counts: for so many units that their table is kept, and the units are not."""

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray
from leaderboard.ratings.resampling import CONFIDENCE, Interval
from leaderboard.ratings.undefined import Reason, Undefined

__all__ = ["kappa_interval_of_items", "kappa_of_table", "spearman"]


def kappa_of_table(counts: ArrayLike) -> float | Undefined:
    """Cohen's kappa of a square table: counts[i, j] units that the first rater put into i, the second into j.

    1 perfect, 0 as by chance. Undefined for an empty table, and where both gave everything one and the same value.
    Raises ValueError for another shape. Source: Cohen, Educ. Psychol. Meas. 20 (1960).
    """
    table = _square(counts)
    if not table.sum():
        return Undefined(Reason.NOTHING_PAIRED)
    value = float(_kappas(table[None])[0])
    return Undefined(Reason.CONSTANT) if np.isnan(value) else value


def kappa_interval_of_items(tables: ArrayLike, *, rounds: int = 1000, seed: int = 0) -> Interval | Undefined:
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
    kinds, counts = np.unique(found.reshape(len(found), -1), axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(found), counts / len(found), size=rounds)
    values = _kappas((drawn @ kinds).reshape(rounds, *found.shape[1:]))
    known = values[~np.isnan(values)]
    if 2 * len(known) <= rounds:
        return Undefined(Reason.MOSTLY_UNDEFINED)
    low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high), rounds, rounds - len(known))


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
    a, b = (_ranks(values[known]) for values in (one, two))
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum() / size) if size else Undefined(Reason.CONSTANT)


def _ranks(values: FloatArray) -> FloatArray:
    _values, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: FloatArray = np.cumsum(counts) - (counts - 1) / 2
    return means[place]


def _kappas(tables: FloatArray) -> FloatArray:
    """Of a stack of tables, each its kappa; nan where chance alone explains everything."""
    units = np.where(tables.any(axis=(1, 2)), tables.sum(axis=(1, 2)), np.nan)
    observed = np.trace(tables, axis1=1, axis2=2) / units
    expected = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / units**2
    beyond = 1.0 - expected
    values: FloatArray = np.full(len(tables), np.nan)
    np.divide(observed - expected, beyond, out=values, where=beyond > 1e-12)
    return values


def _square(counts: ArrayLike) -> FloatArray:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (table < 0).any():
        raise ValueError("counts are numbers from 0 up in a square table")
    return table
