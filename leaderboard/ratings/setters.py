"""Setters: how near their problems came to the middle of the scale."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.estimates import Estimate, mean_estimate
from leaderboard.ratings.undefined import Reason
from leaderboard.ratings.votes import HIGHEST, Cycle, calibration, overall


@dataclass(frozen=True, slots=True)
class Setter:
    """What a setter's problems were like; means over its problems, each one unit and one cluster.

    problems: how many it set in the cycles given; scored: how many of them have a score. calibration: 0 to 1, see
    `calibration`. by_others: the same without the setter's own votes, by which it could steer it. overall: the mean
    score of its problems, 0 to 10; a high one means easy. passed: the share of tests that the other solvers passed, 0
    to 1: how hard the problem was by the sandbox.
    """

    name: str
    problems: int
    scored: int
    calibration: Estimate
    by_others: Estimate
    overall: Estimate
    passed: Estimate


def setters(cycles: Sequence[Cycle], *, quorum: int = 1, others: Collection[str] = ()) -> tuple[Setter, ...]:
    """Everybody who set a problem, in the sequence of names. Intervals are Student's, cut at the ends of the scale.

    others: those who were to set one, too; of who never did, no figure exists.
    """
    names = sorted({cycle.setter for cycle in cycles}.union(others))
    return tuple(_setter(name, [cycle for cycle in cycles if cycle.setter == name], quorum) for name in names)


def _setter(name: str, cycles: Sequence[Cycle], quorum: int) -> Setter:
    levels = _known(overall(cycle, quorum) for cycle in cycles)
    others = _known(overall(_without_own_votes(cycle), quorum) for cycle in cycles)
    passed = _known(_passed_by_others(cycle) for cycle in cycles)
    return Setter(
        name=name,
        problems=len(cycles),
        scored=len(levels),
        calibration=_mean(map(calibration, levels), 1.0),
        by_others=_mean(map(calibration, others), 1.0),
        overall=_mean(levels, HIGHEST),
        passed=_mean(passed, 1.0, empty=Reason.NOTHING_RUN),
    )


def _without_own_votes(cycle: Cycle) -> Cycle:
    return replace(cycle, votes=tuple(vote for vote in cycle.votes if vote.judge != cycle.setter))


def _passed_by_others(cycle: Cycle) -> float | None:
    shares = [share for name, share in sorted(cycle.passed.items()) if name != cycle.setter]
    return sum(shares) / len(shares) if shares else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Iterable[float], high: float, empty: Reason = Reason.NO_VOTES) -> Estimate:
    found = np.array(sorted(values), dtype=np.float64)
    return mean_estimate(found, np.arange(len(found)), low=0.0, high=high, empty=empty)
