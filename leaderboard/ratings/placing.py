"""An order as tie groups, made from scores or from a relation."""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray
from leaderboard.ratings.ballots import Groups

SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Order:
    """Tie groups of candidate indices, best first, and the candidates of which nothing is known."""

    groups: Groups
    unplaced: tuple[int, ...] = ()

    @property
    def winners(self) -> tuple[int, ...]:
        return self.groups[0] if self.groups else ()


def by_score(scores: FloatArray) -> Order:
    """The highest score first; scores that differ by less than 1e-9 are tied, nan is not placed."""
    placed = np.flatnonzero(~np.isnan(scores))
    groups: list[list[int]] = []
    last = np.inf
    for index in placed[np.argsort(-scores[placed], kind="stable")].tolist():
        if not groups or last - scores[index] > SAME:
            groups.append([])
        groups[-1].append(index)
        last = scores[index]
    return Order(tuple(tuple(sorted(group)) for group in groups), _missing(~np.isnan(scores)))


def by_relation(above: BoolArray, placed: BoolArray) -> Order:
    """The order of a strict partial order above[i, j]: those with nobody above them first, then the same of the rest.

    Two that are not related stand in one group unless others part them. Independent of the candidates' sequence.
    """
    left = placed.copy()
    groups = []
    while left.any():
        top = left & ~above[left].any(axis=0)
        if not top.any():
            raise ValueError("the relation has a circle")
        groups.append(tuple(np.flatnonzero(top).tolist()))
        left &= ~top
    return Order(tuple(groups), _missing(placed))


def _missing(placed: BoolArray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(~placed).tolist())
