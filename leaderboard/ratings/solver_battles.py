"""Solvers compared with each other, from what one and the same judge gave to both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.battles import Battles
from leaderboard.ratings.votes import Cycle, scores

SAME = 1e-9  # votes: means of five dimensions that are nearer to each other are equal


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The battles of solvers, and by battle the index of its cycle. Contestants in the sequence of names."""

    battles: Battles
    cycle: IntArray


def battles_of(cycles: Sequence[Cycle], quorum: int = 1) -> Compared:
    """A battle for each judge and each two solutions that it scored: who got more wins, equal votes are a tie.

    A judge's severity cancels out, and its own solution is in none of its battles. Solvers with fewer votes than the
    quorum are in no battle. Rows do not depend on the sequence of contestants or votes.
    """
    names = sorted({name for cycle in cycles for name in cycle.contestants})
    place = {name: index for index, name in enumerate(names)}
    rows = [_rows(cycle, quorum, place) for cycle in cycles]
    left, right, score = (np.concatenate([row[part] for row in rows] or [np.zeros(0)]) for part in range(3))
    numbers = np.repeat(np.arange(len(rows), dtype=np.int64), [len(row[0]) for row in rows])
    return Compared(Battles(left.astype(np.int64), right.astype(np.int64), score, names), numbers)


def table_of_votes(cycle: Cycle, quorum: int = 1) -> tuple[list[str], FloatArray]:
    """The cycle's names in their sequence, and votes as judges × solvers; nan where there is none.

    The column of a solver with fewer votes than the quorum is nan.
    """
    names = sorted(cycle.contestants)
    place = {name: index for index, name in enumerate(names)}
    rated = scores(cycle, quorum)
    table = np.full((len(names), len(names)), np.nan)
    for vote in cycle.votes:
        if vote.solver in rated:
            table[place[vote.judge], place[vote.solver]] = vote.overall
    return names, table


def outcomes(table: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """What solvers `first` scored against solvers `second` with each judge, judges × pairs: 1, 0.5, 0, or nan."""
    apart = table[:, first] - table[:, second]
    found: FloatArray = np.where(np.abs(apart) < SAME, 0.5, np.where(apart > 0, 1.0, 0.0))
    return np.where(np.isnan(apart), np.nan, found)


def _rows(cycle: Cycle, quorum: int, place: dict[str, int]) -> tuple[IntArray, IntArray, FloatArray]:
    names, table = table_of_votes(cycle, quorum)
    first, second = np.triu_indices(len(names), 1)
    score = outcomes(table, first, second)
    pairs = np.nonzero(~np.isnan(score))
    where = np.array([place[name] for name in names], dtype=np.int64)
    return where[first[pairs[1]]], where[second[pairs[1]]], score[pairs]
