"""What a coding cycle leaves for ratings: who stood in it, who set the problem, and what judges gave to solutions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leaderboard.ratings.battles import Battles
from leaderboard.ratings.values import FloatArray, IntArray

HIGHEST = 10.0  # of a vote

SAME = 1e-9  # votes: means of five dimensions that are nearer to each other are equal


@dataclass(frozen=True, slots=True)
class Vote:
    """A judge's overall score of a solution, 0 to 10.

    Raises ValueError for a vote outside that range or not a number, and for one on the judge's own solution.
    """

    solver: str
    judge: str
    overall: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.overall <= HIGHEST:
            raise ValueError(f"a vote is a number from 0 to 10, not {self.overall}")
        if self.solver == self.judge:
            raise ValueError(f"{self.judge} votes on its own solution")


@dataclass(frozen=True, slots=True)
class Cycle:
    """One problem, its solutions and the votes on them. All contestants solve and judge; one of them is the setter.

    contestants: in the stated order, by which the compatible board plays. votes: valid ones alone, in any sequence; a
    vote that failed is not there. passed: by solver the share (0 to 1) of the tests that the sandbox saw pass, without
    those of whom nothing was run. Raises ValueError for fewer than two contestants, a name twice, a setter, voter or
    solver who is no contestant, two votes of a judge on one solution, and a share outside 0 to 1.
    """

    contestants: tuple[str, ...]
    setter: str
    votes: tuple[Vote, ...] = ()
    passed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = set(self.contestants)
        if len(self.contestants) < 2 or len(names) != len(self.contestants):
            raise ValueError("a cycle has two contestants or more, each named once")
        if self.setter not in names:
            raise ValueError(f"the setter {self.setter} is not a contestant")
        named = {name for vote in self.votes for name in (vote.solver, vote.judge)} | set(self.passed)
        if strangers := sorted(named - names):
            raise ValueError(f"not contestants: {', '.join(strangers[:5])}")
        if len({(vote.solver, vote.judge) for vote in self.votes}) != len(self.votes):
            raise ValueError("a judge votes once on a solution")
        if not all(0.0 <= share <= 1.0 for share in self.passed.values()):
            raise ValueError("the share of tests passed is from 0 to 1")


def scores(cycle: Cycle, quorum: int = 1) -> dict[str, float]:
    """The mean vote on each solution, 0 to 10, in the contestants' order.

    Who has fewer votes than the quorum is not there: unrated in this cycle, which is not a score of 0. Raises
    ValueError for a quorum below 1.
    """
    if quorum < 1:
        raise ValueError("a quorum is one vote or more")
    given: dict[str, list[float]] = {name: [] for name in cycle.contestants}
    for vote in cycle.votes:
        given[vote.solver].append(vote.overall)
    return {name: math.fsum(votes) / len(votes) for name, votes in given.items() if len(votes) >= quorum}


def overall(cycle: Cycle, quorum: int = 1) -> float | None:
    """The mean of the solvers' mean votes, 0 to 10; None when nobody is rated. Every rated solver counts alike."""
    means = scores(cycle, quorum).values()
    return math.fsum(means) / len(means) if means else None


def calibration(level: float) -> float:
    """How near a problem came to the middle of the scale: 1 - 2 · |level / 10 - 0.5|, level being an overall score.

    1 at 5, 0 at 0 and at 10 and beyond. Raises ValueError for nan.
    """
    if math.isnan(level):
        raise ValueError("a problem without scores has no calibration")
    return 1.0 - 2.0 * abs(min(max(level / HIGHEST, 0.0), 1.0) - 0.5)


# --- solvers compared with each other, from what one and the same judge gave to both ---


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


# --- all votes of some cycles as one table: judges × solutions ---


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """judges: names in their sequence. votes: judges × solutions, nan where there is none; each solution has one.

    passed: by solution the share of tests passed, nan where nothing was run. cycle: by solution the index of its cycle.
    """

    judges: tuple[str, ...]
    votes: FloatArray
    passed: FloatArray
    cycle: IntArray

    @property
    def means(self) -> FloatArray:
        """The mean vote on each solution."""
        found: FloatArray = np.nansum(self.votes, axis=0) / np.count_nonzero(~np.isnan(self.votes), axis=0)
        return found

    def without(self, judge: int) -> FloatArray:
        """The mean vote of all judges but this one on each solution, nan where no other voted."""
        rest = np.delete(self.votes, judge, axis=0)
        known = np.count_nonzero(~np.isnan(rest), axis=0)
        return np.where(known > 0, np.nansum(rest, axis=0) / np.maximum(known, 1), np.nan)


def panel_of(cycles: Sequence[Cycle]) -> Panel:
    """The table of everybody who stood in a cycle, and of all solutions with a vote."""
    judges = tuple(sorted({name for cycle in cycles for name in cycle.contestants}))
    place = {name: index for index, name in enumerate(judges)}
    columns = [np.zeros((len(judges), 0))]
    passed: list[float] = []
    numbers: list[int] = []
    for number, cycle in enumerate(cycles):
        names, table = table_of_votes(cycle)
        column = np.full((len(judges), len(names)), np.nan)
        column[[place[name] for name in names]] = table
        judged = np.flatnonzero(~np.isnan(table).all(axis=0)).tolist()
        columns.append(column[:, judged])
        passed += [cycle.passed.get(names[index], np.nan) for index in judged]
        numbers += [number] * len(judged)
    votes = np.concatenate(columns, axis=1)
    return Panel(judges, votes, np.array(passed, dtype=np.float64), np.array(numbers, dtype=np.int64))
