"""What is known of ranks: which contestants can be told apart, and who may be the best."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.intervals import Intervals
from leaderboard.ratings.scale import NORMAL


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """In the contestants' sequence and within each component; nan for those without a rating or an error.

    rank: 1 + how many are rated higher. best, worst: the 95 % interval of the rank, 1 + how many are surely higher,
    and n less those surely lower. All three count those above the rated, from whom wins lead to them and never back;
    best only those of whom enough is known. group: contestants of one group cannot be told from the group's highest, 1
    first. first: the probability of being the strongest of the component, 0 to 1; nan while somebody of whom enough is
    known is above the rated.
    """

    rank: FloatArray
    best: FloatArray
    worst: FloatArray
    group: FloatArray
    first: FloatArray


def ranks(
    intervals: Intervals, *, draws: int = 10_000, seed: int = 0, is_known: Sequence[bool] | BoolArray | None = None
) -> Ranks:
    """Ranks from ratings and their joint covariance. is_known: n, of whom of those above the rated enough is known for
    them to be surely above; all of them without it.

    Two are told apart when their difference is more than 1.96 of its standard errors: each pair at 95 %, not all pairs
    together. `first` counts joint normal draws. The same for the same seed, in whatever sequence contestants stand.
    Sources: Goldstein & Healy, J. R. Statist. Soc. A 158 (1995); Goldstein & Spiegelhalter, ibid. 159 (1996).
    """
    contestants, values = intervals.ratings.contestants, intervals.ratings.values
    known = ~np.isnan(values) & ~np.isnan(intervals.errors)
    found = Ranks(*(np.full(len(values), np.nan) for _ in range(5)))
    for component in intervals.ratings.components:
        members = np.array([contestants.index(name) for name in sorted(component)], dtype=np.int64)
        part = members[known[members]]
        above = members[intervals.ratings.above[members]]
        surely = len(above) if is_known is None else int(np.count_nonzero(np.asarray(is_known)[above]))
        if part.size:
            covariance = intervals.covariance[np.ix_(part, part)]
            _place(found, part, values[part], covariance, len(above), surely)
            if not surely:
                found.first[part] = _chance_of_first(values[part], covariance, draws, seed)
    return found


def surely_above(values: FloatArray, covariance: FloatArray) -> BoolArray:
    """[i, j]: i is rated above j by more than 1.96 standard errors of their difference."""
    variances = np.diag(covariance)
    errors = np.sqrt(np.maximum(variances[:, None] + variances[None, :] - 2 * covariance, 0.0))
    above: BoolArray = values[:, None] - values[None, :] > np.maximum(NORMAL * errors, 1e-9)
    return above


def _place(
    found: Ranks, part: IntArray, values: FloatArray, covariance: FloatArray, unbeaten: int, surely: int
) -> None:
    above = surely_above(values, covariance)
    found.rank[part] = unbeaten + 1 + (values[None, :] > values[:, None] + 1e-9).sum(axis=1)
    found.best[part] = surely + 1 + above.sum(axis=0)
    found.worst[part] = unbeaten + len(part) - above.sum(axis=1)
    found.group[part] = _groups(values, above)


def _groups(values: FloatArray, above: BoolArray) -> FloatArray:
    """From the top: a new group begins with the first whom the group's highest surely surpasses."""
    groups = np.zeros(len(values))
    number, highest = 0, -1
    for index in np.argsort(-values, kind="stable").tolist():
        if highest < 0 or above[highest, index]:
            number, highest = number + 1, index
        groups[index] = number
    return groups


def _chance_of_first(values: FloatArray, covariance: FloatArray, draws: int, seed: int) -> FloatArray:
    sizes, axes = np.linalg.eigh(covariance)
    root = axes * np.sqrt(np.maximum(sizes, 0.0))
    drawn = values + np.random.default_rng(seed).standard_normal((draws, len(values))) @ root.T
    return np.bincount(np.argmax(drawn, axis=1), minlength=len(values)) / draws
