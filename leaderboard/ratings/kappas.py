"""Agreement beyond chance on categories: Cohen's kappa for two raters, Fleiss' for a fixed number per unit."""

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.resampling import Interval, resampled
from leaderboard.ratings.undefined import Reason, Undefined

Weights = Literal["none", "linear", "quadratic"]


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
    pairs, count = _paired(first, second, categories, weights)
    return _cohen(pairs, _disagreements(count, weights))


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
    pairs, count = _paired(first, second, categories, weights)
    distances = _disagreements(count, weights)
    return resampled(lambda drawn: _cohen(pairs[drawn], distances), len(pairs), rounds=rounds, seed=seed)


def fleiss_kappa(counts: ArrayLike) -> float | Undefined:
    """(P - Pe) / (1 - Pe), with P the mean share of agreeing pairs and Pe that expected of the categories' shares.

    counts: units × categories, how many raters put the unit into the category. Undefined when the units have unequal
    numbers of raters, fewer than two, or one category has everything. Raises ValueError for another shape.
    Source: Fleiss, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76 (1971).
    """
    table = _whole(counts)
    raters = set(table.sum(axis=1).tolist())
    if len(raters) > 1:
        return Undefined(Reason.UNEQUAL_RATERS)
    return _fleiss(table) if raters and min(raters) > 1 else Undefined(Reason.NOTHING_PAIRED)


def fleiss_interval(counts: ArrayLike, *, rounds: int = 1000, seed: int = 0) -> Interval | Undefined:
    """The 95 % interval of Fleiss' kappa, by drawing units anew with replacement."""
    found = fleiss_kappa(counts)
    if isinstance(found, Undefined):
        return found
    table = _whole(counts)
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


def _disagreements(count: int, weights: Weights) -> FloatArray:
    places = np.arange(count)
    distances = np.abs(np.subtract.outer(places, places)).astype(float)
    counted: dict[Weights, FloatArray] = {
        "none": np.minimum(distances, 1.0),
        "linear": distances,
        "quadratic": distances**2,
    }
    return counted[weights]


def _paired(
    first: Sequence[Hashable | None],
    second: Sequence[Hashable | None],
    categories: Sequence[Hashable],
    weights: Weights,
) -> tuple[IntArray, int]:
    """The units that both rated, as pairs of indices of categories, and the number of categories."""
    if weights != "none" and not categories:
        raise ValueError("weighted agreement needs the sequence of the categories")
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    known = categories or tuple(dict.fromkeys(value for pair in both for value in pair))
    places = {category: place for place, category in enumerate(known)}
    if unknown := {value for pair in both for value in pair} - set(places):
        raise ValueError(f"not one of the categories: {sorted(map(repr, unknown))[0]}")
    return np.array([(places[a], places[b]) for a, b in both], dtype=np.int64).reshape(-1, 2), len(places)


def _whole(counts: ArrayLike) -> IntArray:
    table = np.asarray(counts)
    if table.ndim != 2 or (table.size and (table.dtype.kind not in "iu" or table.min() < 0)):
        raise ValueError("counts are whole numbers from 0 up, units × categories")
    return table.astype(np.int64)
