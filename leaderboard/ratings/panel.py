"""All votes of some cycles as one table: judges × solutions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.solver_battles import table_of_votes
from leaderboard.ratings.votes import Cycle


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
