"""Krippendorff's alpha: agreement of any number of raters, missing values allowed, on any level of measurement."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.resampling import Interval, resampled
from leaderboard.ratings.undefined import Reason, Undefined

Level = Literal["nominal", "ordinal", "interval", "ratio"]


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
    marginals = paired.sum(axis=0)
    distances = _distances(marginals, values, level)
    expected = float(marginals @ distances @ marginals)
    if expected == 0.0:
        return Undefined(Reason.CONSTANT)
    weighted = paired / (raters - 1)[:, None]
    observed = float((distances * (weighted.T @ paired)).sum())
    return 1.0 - (float(marginals.sum()) - 1.0) * observed / expected


def _distances(marginals: IntArray, values: FloatArray, level: Level) -> FloatArray:
    """Squared distances of values, n × n, 0 on the diagonal."""
    squares: FloatArray
    if level == "nominal":
        squares = 1.0 - np.eye(len(values))
    elif level == "ordinal":
        middles = np.cumsum(marginals) - marginals / 2
        squares = np.subtract.outer(middles, middles) ** 2
    elif level == "interval":
        squares = np.subtract.outer(values, values) ** 2
    elif level == "ratio":
        squares = _ratios(values)
    else:
        raise ValueError(f"no such level of measurement: {level}")
    return squares


def _ratios(values: FloatArray) -> FloatArray:
    if values.size and values[0] < 0:
        raise ValueError("a ratio scale has no negative values")
    sums = np.add.outer(values, values)
    differences = np.subtract.outer(values, values)
    quotients: FloatArray = np.divide(differences, sums, out=np.zeros_like(sums), where=sums > 0) ** 2
    return quotients
