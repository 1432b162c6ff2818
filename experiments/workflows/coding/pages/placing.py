"""Where solvers stand by the comparisons of their solutions, and who has no place and why."""

from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.cycles import SolverRatings
from leaderboard.ratings.ranks import ranks
from leaderboard.ratings.values import NORMAL, Reason

DRAWS = 2000  # of the probability of being the strongest: its standard error is at most 1.1 %
SEED = 1
WIDEST = 400.0  # Elo to one side: odds of ten to one
FEW_CYCLES = "few_cycles"
FEW_SAMPLES = "few_samples"
BOUNDED = (Reason.UNDEFEATED, Reason.WINLESS, Reason.ABOVE, Reason.BELOW)  # ranked from two cycles on


@dataclass(frozen=True)
class Strength:
    """Of a solver, as `rated.Solver` has it. Those without a rating, and bounds, are told by the reason."""

    battles: int
    wins: int
    ties: int
    losses: int
    component: int
    reason: str
    rating: float | None = None
    lower: float | None = None
    upper: float | None = None
    first: float | None = None
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    group: int | None = None


def by_strength(found: SolverRatings) -> dict[str, Strength]:
    """Bradley-Terry ratings, intervals and ranks by name, one-sided bounds, or why there are none."""
    intervals, ratings = found.intervals, found.intervals.ratings
    reasons = [_why_unrated(found, index) for index in range(len(ratings.contestants))]
    is_wide = np.array([reason == FEW_SAMPLES for reason in reasons], dtype=bool)
    order = ranks(intervals, draws=DRAWS, seed=SEED, is_known=(np.asarray(found.cycles) > 1) & ~is_wide)
    components = ratings.component_of.tolist()
    rows: dict[str, Strength] = {}
    for index, name in enumerate(ratings.contestants):
        battles, wins, ties = (int(counts[index]) for counts in (found.battles, found.wins, found.ties))
        row = Strength(battles, wins, ties, battles - wins - ties, components[index], reasons[index])
        if np.isnan(order.rank[index]):
            rows[name] = replace(row, reason=FEW_CYCLES) if reasons[index] in BOUNDED else row
        else:
            bounds = intervals.one_sided if reasons[index] else intervals
            rows[name] = replace(
                row,
                rating=_bound(ratings.values[index]),
                lower=_bound(bounds.lower[index]),
                upper=_bound(bounds.upper[index]),
                first=_bound(order.first[index]),
                rank=int(order.rank[index]),
                best=int(order.best[index]),
                worst=int(order.worst[index]),
                group=int(order.group[index]),
            )
    return rows


def _why_unrated(found: SolverRatings, index: int) -> str:
    """Too little is known of one cycle, and where a rating could be wrong by more than 400 points."""
    if reason := found.intervals.ratings.reasons[index]:
        return str(reason)
    if no_interval := found.no_interval[index]:
        return FEW_CYCLES if no_interval == Reason.TOO_FEW_UNITS else str(no_interval)
    return FEW_SAMPLES if NORMAL * float(found.intervals.errors[index]) > WIDEST else ""


def _bound(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
