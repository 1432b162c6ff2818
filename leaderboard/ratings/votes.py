"""What a coding cycle leaves for ratings: who stood in it, who set the problem, and what judges gave to solutions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

HIGHEST = 10.0  # of a vote


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
