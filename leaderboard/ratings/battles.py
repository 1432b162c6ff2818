"""Battles as arrays, and the one table of counts that everything else is computed from."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.values import FloatArray, IntArray

OUTCOMES = 3  # lost, tied, won: twice the score


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """One row per battle: who stood left, who stood right (indices of contestants), and the left one's score.

    score: 1 the left one won, 0.5 a tie, 0 the right one won. A battle without a verdict has no row. Raises ValueError
    for other scores, for unequal lengths, an index out of range, somebody against themselves, or a name used twice.
    """

    left: IntArray
    right: IntArray
    score: FloatArray
    contestants: Sequence[str]
    outcome: IntArray = field(init=False, repr=False)  # 0 lost, 1 tied, 2 won by the left one

    def __init__(self, left: ArrayLike, right: ArrayLike, score: ArrayLike, contestants: Sequence[str]) -> None:
        scores = np.asarray(score, dtype=np.float64)
        _check(_indices(left), _indices(right), scores, contestants)
        object.__setattr__(self, "left", _indices(left))
        object.__setattr__(self, "right", _indices(right))
        object.__setattr__(self, "score", scores)
        object.__setattr__(self, "contestants", tuple(contestants))
        object.__setattr__(self, "outcome", (2 * scores).astype(np.int8))

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """How often each beat each: wins[i, j] and ties[i, j] (the same both ways), n × n; fractions are allowed."""

    wins: FloatArray
    ties: FloatArray
    contestants: tuple[str, ...]

    @property
    def points(self) -> FloatArray:
        """What i took from j: wins, and half the ties."""
        return self.wins + self.ties / 2

    @property
    def games(self) -> FloatArray:
        """How often i and j met."""
        return self.wins + self.wins.T + self.ties

    def ordered(self, order: IntArray) -> "Table":
        """The same table with its contestants in another sequence."""
        chosen = np.ix_(order, order)
        return Table(self.wins[chosen], self.ties[chosen], tuple(self.contestants[i] for i in order))


def tally(battles: Battles) -> Table:
    """The table of the battles, in one pass over them; the same whatever the sequence of rows."""
    counts = oriented_counts(battles)
    wins = counts[:, :, 2] + counts[:, :, 0].T
    ties = counts[:, :, 1] + counts[:, :, 1].T
    return Table(wins.astype(float), ties.astype(float), tuple(battles.contestants))


def oriented_counts(battles: Battles) -> IntArray:
    """How often i on the left lost to, tied with and beat j on the right: n × n × 3."""
    count = len(battles.contestants)
    cells = battles.left * np.int64(count)
    cells += battles.right
    cells *= OUTCOMES
    cells += battles.outcome
    counts = np.bincount(cells, minlength=count * count * OUTCOMES)
    return counts.reshape(count, count, OUTCOMES)


def as_table(battles: Battles | Table) -> Table:
    return battles if isinstance(battles, Table) else tally(battles)


def _indices(values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError("left and right are whole numbers, indices of contestants")
    return array.astype(np.int64, copy=False)


def _check(left: IntArray, right: IntArray, score: FloatArray, contestants: Sequence[str]) -> None:
    if not left.shape == right.shape == score.shape or left.ndim != 1:
        raise ValueError("left, right and score are one-dimensional and of one length")
    if repeated := [name for name, times in Counter(contestants).items() if times > 1]:
        raise ValueError(f"contestants are named twice: {', '.join(repeated[:5])}")
    if not left.size:
        return
    if min(left.min(), right.min()) < 0 or max(left.max(), right.max()) >= len(contestants):
        raise ValueError("left or right is not the index of a contestant")
    if (left == right).any():
        raise ValueError("a contestant cannot battle itself")
    doubled = 2 * score
    if not (np.isin(doubled, (0.0, 1.0, 2.0))).all():
        raise ValueError("a score is 1, 0.5 or 0; a battle without a verdict has no row")
