"""Cycles played again from the first one: what a page shows of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.ratings.cycle_elo import START, Snapshot, compatible_elo
from leaderboard.ratings.solvers import solver_elo
from leaderboard.ratings.votes import Cycle, calibration, overall, scores


@dataclass(frozen=True, slots=True)
class Moment:
    """A cycle and what it left. scores: mean votes (0 to 10) of those who are rated in it, in the stated order.

    overall and calibration of the problem: None when nobody is rated. compatible, solvers: both boards after it.
    """

    cycle: Cycle
    scores: Mapping[str, float]
    overall: float | None
    calibration: float | None
    compatible: Snapshot
    solvers: Snapshot


def replay(cycles: Sequence[Cycle], *, start: float = START, quorum: int = 1) -> tuple[Moment, ...]:
    """A moment per cycle, in the sequence given; a void cycle is left out by whoever calls."""
    compatible = compatible_elo(cycles, start=start, quorum=quorum).snapshots
    solvers = solver_elo(cycles, start=start, quorum=quorum).snapshots
    moments = []
    for cycle, one, other in zip(cycles, compatible, solvers, strict=True):
        level = overall(cycle, quorum)
        calibrated = None if level is None else calibration(level)
        moments.append(Moment(cycle, scores(cycle, quorum), level, calibrated, one, other))
    return tuple(moments)
