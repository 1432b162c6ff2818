"""Ratings of solvers that depend on no order within a cycle, and in which a judge's votes do not move itself."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.cycle_elo import START, History, Snapshot
from leaderboard.ratings.intervals import Intervals, sandwich
from leaderboard.ratings.scale import SCALE
from leaderboard.ratings.solver_battles import Compared, battles_of, outcomes, table_of_votes
from leaderboard.ratings.undefined import Reason
from leaderboard.ratings.votes import Cycle
from leaderboard.ratings.widening import NO_SPREAD, careful, clusters_of_each

CYCLE_K = 32.0  # the most that a cycle moves a rating: as much as one game of Elo's, whatever the number of votes


@dataclass(frozen=True, slots=True, eq=False)
class SolverRatings:
    """Bradley-Terry ratings of solvers. All arrays are in the sequence of `intervals.ratings.contestants`.

    intervals: as `sandwich` gives them, with cycles as clusters, widened for their number (`solver_ratings`); lower,
    upper and errors are nan where `no_interval` has a reason. Who has no rating has its reason in `ratings.reasons`.
    battles, cycles: how many comparisons each was in, and in how many cycles.
    """

    intervals: Intervals
    no_interval: tuple[Reason | None, ...]
    wins: IntArray
    ties: IntArray
    battles: IntArray
    cycles: IntArray


def solver_elo(cycles: Iterable[Cycle], *, start: float = START, k: float = CYCLE_K, quorum: int = 1) -> History:
    """Elo of solvers, a cycle at a time: the same whatever the order of contestants and votes within a cycle.

    In each cycle solver i meets solver j once, and scores the mean, over the judges who scored both, of 1, 0.5 or 0.
    rating i += k / (n - 1) · the sum over j of (score - expected), all expected from the ratings before the cycle; n
    is how many solvers were rated in it. So no cycle moves anybody by more than k, and the sum of ratings is kept, but
    for newcomers. With all votes there it is `batch_elo` of the cycle's battles with weight "mean".
    The setter wins nothing by its problem, and a judge nothing by its votes: they move others alone in that cycle.
    """
    ratings: dict[str, float] = {}
    played: dict[str, int] = {}
    snapshots = []
    for cycle in cycles:
        for name in cycle.contestants:
            ratings.setdefault(name, start)
            played.setdefault(name, 0)
        moves = _moves(cycle, ratings, k, quorum)
        before = dict(ratings)
        for name, move in moves.items():
            ratings[name] += move
            played[name] += 1
        changes = {name: ratings[name] - before[name] for name in cycle.contestants}
        snapshots.append(Snapshot(dict(ratings), changes, dict(played)))
    return History(tuple(snapshots))


def solver_ratings(cycles: Sequence[Cycle], *, quorum: int = 1) -> SolverRatings:
    """Bradley-Terry ratings from all judges' comparisons, whose cycles may come in any sequence.

    Comparisons of one cycle share its problem and its solutions, so they are one cluster of the sandwich. It is too
    narrow for few clusters; errors are therefore multiplied by √(g / (g - 1)) · t(g - 1) / 1.96, g being the number of
    cycles in which the solver was compared, and t the quantile of Student's distribution: rating ± 1.96 errors is its t
    interval, and differences and ranks that are told by the errors are as careful.
    No interval: for g = 1, of which nothing can be learned about another cycle (TOO_FEW_UNITS), and where all
    comparisons came out alike (NO_SPREAD). Raises NotConverged as `fit` does.
    Source: Cameron & Miller, "A Practitioner's Guide to Cluster-Robust Inference", J. Human Resources 50 (2015), VI.
    """
    compared = battles_of(cycles, quorum)
    counts = _counts(compared)
    intervals = sandwich(compared.battles, clusters=compared.cycle)
    wide = careful(intervals, counts["cycles"])
    reasons = tuple(map(_why_none, intervals.ratings.reasons, intervals.errors.tolist(), counts["cycles"].tolist()))
    return SolverRatings(_blanked(wide, reasons), reasons, **counts)


def _moves(cycle: Cycle, ratings: Mapping[str, float], k: float, quorum: int) -> dict[str, float]:
    """By how much each solver that was compared moves."""
    names, table = table_of_votes(cycle, quorum)
    everybody = np.arange(len(names))
    first, second = (side.reshape(-1) for side in np.meshgrid(everybody, everybody, indexing="ij"))
    won = outcomes(table, first, second)
    judges = np.count_nonzero(~np.isnan(won), axis=0).reshape(len(names), -1)
    np.fill_diagonal(judges, 0)
    score = np.nansum(won, axis=0).reshape(len(names), -1) / np.maximum(judges, 1)
    own = np.array([ratings[name] for name in names])
    expected = 1.0 / (1.0 + 10.0 ** ((own[None, :] - own[:, None]) / SCALE))
    surprise = np.where(judges > 0, score - expected, 0.0).sum(axis=1)
    rated = int(np.count_nonzero(~np.isnan(table).all(axis=0)))
    share = k / max(rated - 1, 1)
    return {name: float(share * surprise[i]) for i, name in enumerate(names) if judges[i].any()}


def _counts(compared: Compared) -> dict[str, IntArray]:
    battles, count = compared.battles, len(compared.battles.contestants)
    won = np.concatenate([battles.left[battles.outcome == 2], battles.right[battles.outcome == 0]])
    tied = battles.outcome == 1
    sides = np.concatenate([battles.left, battles.right])
    return {
        "wins": np.bincount(won, minlength=count),
        "ties": np.bincount(np.concatenate([battles.left[tied], battles.right[tied]]), minlength=count),
        "battles": np.bincount(sides, minlength=count),
        "cycles": clusters_of_each(battles, compared.cycle),
    }


def _why_none(unrated: Reason | None, error: float, cycles: int) -> Reason | None:
    if unrated:
        return unrated
    if cycles < 2:
        return Reason.TOO_FEW_UNITS
    return None if error > NO_SPREAD else Reason.NO_SPREAD


def _blanked(intervals: Intervals, reasons: tuple[Reason | None, ...]) -> Intervals:
    has_none = np.array([reason is not None for reason in reasons], dtype=bool)

    def kept(values: FloatArray) -> FloatArray:
        return np.where(has_none, np.nan, values)

    covariance = np.where(has_none[:, None] | has_none[None, :], np.nan, intervals.covariance)
    lower, upper, errors = kept(intervals.lower), kept(intervals.upper), kept(intervals.errors)
    return replace(intervals, lower=lower, upper=upper, errors=errors, covariance=covariance)
