"""Coding cycles: models set problems, solve them and judge each other; what is said of solvers, setters and judges.

`compatible_elo` is the board of MatrixArena, in its stated order. `solver_elo` and `solver_ratings` depend on no order,
and a judge's votes move others alone. `setters` and `judging` say what problems and votes are like. A void cycle is
left out by whoever calls: everything is computed from the cycles given.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.agreement import krippendorff_alpha, spearman
from leaderboard.ratings.elo import START, History, Match, Snapshot, compatible_elo, matches
from leaderboard.ratings.intervals import NO_SPREAD, Intervals, careful, clusters_of_each, sandwich
from leaderboard.ratings.statistics import Estimate, jackknifed, mean_estimate, pearson
from leaderboard.ratings.values import SCALE, BoolArray, FloatArray, IntArray, Reason, Undefined
from leaderboard.ratings.votes import (
    HIGHEST,
    Compared,
    Cycle,
    Panel,
    Vote,
    battles_of,
    calibration,
    outcomes,
    overall,
    panel_of,
    scores,
    table_of_votes,
)

CYCLE_K = 32.0  # the most that a cycle moves a rating: as much as one game of Elo's, whatever the number of votes

Correlation = Callable[[FloatArray, FloatArray], float | Undefined]


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


# --- setters: how near their problems came to the middle of the scale ---


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


# --- judges: how severe they are, how far they agree, and what their votes have to do with what the sandbox saw ---


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge's votes. Units are solutions, clusters cycles; a judge never votes on its own solution.

    votes, cycles: how many valid votes it gave, and in how many cycles. mean: of its votes, 0 to 10. spread: their
    standard deviation.
    severity: the mean vote of the other judges less its own, over solutions that others scored too: points that it
    gives less than they do; below 0 it is lenient.
    consensus, consensus_ranks: Pearson's and Spearman's correlation of its votes with the mean of the others'.
    passed: Spearman's correlation of its votes with the share of tests that the sandbox saw pass.
    """

    name: str
    votes: int
    cycles: int
    mean: Estimate
    spread: float | Undefined
    severity: Estimate
    consensus: Estimate
    consensus_ranks: Estimate
    passed: Estimate


@dataclass(frozen=True, slots=True)
class Judging:
    """All judges, in the sequence of names, and what they are together.

    alpha: Krippendorff's, interval level, solutions × judges. consensus: Spearman's correlation of the mean vote on a
    solution with the share of tests passed. votes, solutions: how many votes, and solutions with a vote.
    """

    judges: tuple[Judge, ...]
    alpha: Estimate
    consensus: Estimate
    votes: int
    solutions: int


def judging(cycles: Sequence[Cycle]) -> Judging:
    """The judges' figures. A vote counts whatever the quorum; no value depends on the sequence of cycles or votes.

    Intervals take the votes of a cycle for one cluster: means by `mean_estimate`, the rest by `jackknifed`. What does
    not exist is Undefined with its reason, never 0.
    """
    panel = panel_of(cycles)
    return Judging(
        judges=tuple(_judge(panel, index) for index in range(len(panel.judges))),
        alpha=_alpha(panel),
        consensus=_correlated(panel, panel.means, panel.passed, spearman, Reason.NOTHING_RUN),
        votes=int(np.count_nonzero(~np.isnan(panel.votes))),
        solutions=len(panel.cycle),
    )


def _judge(panel: Panel, index: int) -> Judge:
    own, others = panel.votes[index], panel.without(index)
    voted, compared = ~np.isnan(own), ~np.isnan(own - others)
    severity = (others - own)[compared]
    return Judge(
        name=panel.judges[index],
        votes=int(np.count_nonzero(voted)),
        cycles=len(np.unique(panel.cycle[voted])),
        mean=mean_estimate(own[voted], panel.cycle[voted], low=0.0, high=10.0, empty=Reason.NO_VOTES),
        spread=_spread(own[voted]),
        severity=mean_estimate(severity, panel.cycle[compared], empty=Reason.NOTHING_PAIRED),
        consensus=_correlated(panel, own, others, pearson, Reason.NOTHING_PAIRED),
        consensus_ranks=_correlated(panel, own, others, spearman, Reason.NOTHING_PAIRED),
        passed=_correlated(panel, own, panel.passed, spearman, Reason.NOTHING_RUN),
    )


def _spread(votes: FloatArray) -> float | Undefined:
    if len(votes) < 2:
        return Undefined(Reason.TOO_FEW_UNITS if len(votes) else Reason.NO_VOTES)
    return float(np.std(votes, ddof=1))


def _correlated(panel: Panel, first: FloatArray, second: FloatArray, how: Correlation, empty: Reason) -> Estimate:
    """Over solutions for which both are known; `empty` says why there may be none."""
    known = ~np.isnan(first + second)
    one, two = first[known], second[known]

    def correlation(kept: BoolArray) -> float | Undefined:
        return how(one[kept], two[kept]) if kept.size else Undefined(empty)

    return jackknifed(correlation, panel.cycle[known], is_correlation=True)


def _alpha(panel: Panel) -> Estimate:
    paired = np.count_nonzero(~np.isnan(panel.votes), axis=0) > 1
    votes = panel.votes[:, paired]

    def alpha(kept: BoolArray) -> float | Undefined:
        return krippendorff_alpha(votes[:, kept], "interval")

    return jackknifed(alpha, panel.cycle[paired], high=1.0)


# --- cycles played again from the first one: what a page shows of each ---


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


__all__ = [
    "Cycle",
    "Estimate",
    "History",
    "Judge",
    "Judging",
    "Match",
    "Moment",
    "Reason",
    "Setter",
    "Snapshot",
    "SolverRatings",
    "Undefined",
    "Vote",
    "calibration",
    "compatible_elo",
    "judging",
    "matches",
    "overall",
    "replay",
    "scores",
    "setters",
    "solver_elo",
    "solver_ratings",
]
