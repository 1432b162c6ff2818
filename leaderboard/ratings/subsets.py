"""How far ratings from some of the battles differ from those of all of them, with an interval that knows the overlap.

Both are fitted by themselves. What one item adds to a strength is H⁻¹ s to first order, s being the sum of its battles'
scores; the difference of both, summed over items, has the clustered sandwich as its variance (Liang & Zeger, Biometrika
73 (1986); for two estimates from overlapping data Clogg et al., Amer. J. Sociology 100 (1995)).
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.bradley_terry import Fitted, fitted, information
from leaderboard.ratings.intervals import (
    Shared,
    bread,
    factor,
    floored,
    items_of_each,
    sides,
    spread_of_items,
    surprises,
)
from leaderboard.ratings.values import ELO, NORMAL, FloatArray, IntArray, tally


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """shift: what is added to ratings of the part so that those who are rated in both have the same mean in both, Elo.

    values, lower, upper: n, the rating from the part, so shifted, less that from the whole, and its 95 % interval; nan
    for who is not rated in both. The interval is nan too for who was compared on one item alone.
    """

    shift: float
    values: FloatArray
    lower: FloatArray
    upper: FloatArray


def moved(part: Shared, whole: Shared) -> Moved | None:
    """Of the largest rated groups of both. part: some of the battles of `whole`, with the same contestants in the same
    sequence and the same items. None where fewer than two are rated in both. Raises ValueError for other contestants.
    """
    if tuple(part.battles.contestants) != tuple(whole.battles.contestants):
        raise ValueError("the part has the contestants of the whole, in one sequence")
    first, second = (fitted(tally(one.battles), {}) for one in (part, whole))
    if not (first.parts and second.parts):
        return None
    group, other = max(first.parts, key=len), max(second.parts, key=len)
    common = np.array(sorted({*group.tolist()} & {*other.tolist()}), dtype=np.int64)
    if common.size < 2:
        return None
    size = len(first.order)
    of_part, of_whole = _Scores.of(first, group, part, common), _Scores.of(second, other, whole, common)
    meat = spread_of_items(  # the scores of both, as of two leagues
        np.concatenate([of_part.left, of_whole.left + size]),
        np.concatenate([of_part.right, of_whole.right + size]),
        np.concatenate([of_part.amounts, of_whole.amounts]),
        np.concatenate([of_part.items, of_whole.items]),
        2 * size,
    )
    inside = np.ix_(group, group)
    expected = information(first.table.points[inside], first.solution.strengths[group])
    meat[inside] = floored(meat[inside], expected, first.table.games[inside].sum(axis=1))[0]
    moves = np.concatenate([of_part.moves, -of_whole.moves], axis=1)
    met = np.zeros(size, dtype=np.int64)
    met[group] = items_of_each(first.order[group], part)
    factors = np.array([factor(count) for count in met[common].tolist()])
    far = NORMAL * ELO * factors * np.sqrt(np.maximum(np.diag(moves @ meat @ moves.T), 0.0))
    apart = ELO * (first.solution.strengths - second.solution.strengths)[common]
    shift = -float(apart.mean())
    values, lower, upper = (np.full(size, np.nan) for _end in range(3))
    where = first.order[common]
    values[where], lower[where], upper[where] = apart + shift, apart + shift - far, apart + shift + far
    return Moved(shift, values, lower, upper)


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """The battles of a fit within its rated group, in the fit's sequence: what each adds to the left one's score and
    takes from the right one's; and how scores move the strengths of those in common about their mean, common × n.
    """

    left: IntArray
    right: IntArray
    amounts: FloatArray
    items: IntArray
    moves: FloatArray

    @classmethod
    def of(cls, found: Fitted, group: IntArray, shared: Shared, common: IntArray) -> "_Scores":
        strengths, size = found.solution.strengths[group], len(found.order)
        left, right, inside = sides(found, group, shared.battles)
        amounts = surprises(strengths, left, right, shared.battles.score[inside])
        centred = np.eye(size)[common] - np.isin(np.arange(size), common) / common.size
        inverse = bread(information(found.table.points[np.ix_(group, group)], strengths), np.arange(len(group)))
        moves = np.zeros((common.size, size))
        moves[:, group] = centred[:, group] @ inverse
        return cls(group[left], group[right], amounts, np.asarray(shared.items)[inside], moves)
