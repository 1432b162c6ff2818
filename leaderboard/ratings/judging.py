"""What the votes of coding cycles say of setters, whose problems they are on, and of the judges who cast them.

What does not exist is Undefined with its reason, never 0. A cycle's votes are one cluster.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.ratings.agreement import krippendorff_alpha, spearman
from leaderboard.ratings.cycles import HIGHEST, Cycle, calibration, overall, table_of_votes
from leaderboard.ratings.statistics import Estimate, jackknifed, mean_estimate, pearson
from leaderboard.ratings.values import BoolArray, FloatArray, IntArray, Reason, Undefined

Correlation = Callable[[FloatArray, FloatArray], float | Undefined]


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
    levels, by_others, passed = [], [], []
    for cycle in cycles:
        without_own = replace(cycle, votes=tuple(vote for vote in cycle.votes if vote.judge != name))
        levels.append(overall(cycle, quorum))
        by_others.append(overall(without_own, quorum))
        shares = [share for solver, share in sorted(cycle.passed.items()) if solver != name]
        passed.append(sum(shares) / len(shares) if shares else None)

    def mean(values: Iterable[float], high: float, empty: Reason = Reason.NO_VOTES) -> Estimate:
        found = np.array(sorted(values), dtype=np.float64)
        return mean_estimate(found, np.arange(len(found)), low=0.0, high=high, empty=empty)

    known, known_by_others = ([one for one in found if one is not None] for found in (levels, by_others))
    return Setter(
        name=name,
        problems=len(cycles),
        scored=len(known),
        calibration=mean(map(calibration, known), 1.0),
        by_others=mean(map(calibration, known_by_others), 1.0),
        overall=mean(known, HIGHEST),
        passed=mean([one for one in passed if one is not None], 1.0, Reason.NOTHING_RUN),
    )


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


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """judges: names in their sequence. votes: judges × solutions, nan where there is none; each solution has one.

    passed: by solution the share of tests passed, nan where nothing was run. cycle: by solution the index of its cycle.
    """

    judges: tuple[str, ...]
    votes: FloatArray
    passed: FloatArray
    cycle: IntArray

    def correlated(self, first: FloatArray, second: FloatArray, how: Correlation, empty: Reason) -> Estimate:
        """Over solutions for which both are known; `empty` says why there may be none."""
        known = ~np.isnan(first + second)
        one, two = first[known], second[known]

        def correlation(kept: BoolArray) -> float | Undefined:
            return how(one[kept], two[kept]) if kept.size else Undefined(empty)

        return jackknifed(correlation, self.cycle[known], is_correlation=True)


def judging(cycles: Sequence[Cycle]) -> Judging:
    """The judges' figures. A vote counts whatever the quorum; no value depends on the sequence of cycles or votes.

    Intervals take the votes of a cycle for one cluster: means by `mean_estimate`, the rest by `jackknifed`.
    """
    panel = _panel_of(cycles)
    given = np.count_nonzero(~np.isnan(panel.votes), axis=0)
    means, several = np.nansum(panel.votes, axis=0) / given, given > 1
    paired = panel.votes[:, several]
    return Judging(
        judges=tuple(_judge(panel, index) for index in range(len(panel.judges))),
        alpha=jackknifed(lambda kept: krippendorff_alpha(paired[:, kept], "interval"), panel.cycle[several], high=1.0),
        consensus=panel.correlated(means, panel.passed, spearman, Reason.NOTHING_RUN),
        votes=int(given.sum()),
        solutions=len(panel.cycle),
    )


def _panel_of(cycles: Sequence[Cycle]) -> _Panel:
    """The table of everybody who was in a cycle, and of all solutions with a vote."""
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
    return _Panel(judges, votes, np.array(passed, dtype=np.float64), np.array(numbers, dtype=np.int64))


def _judge(panel: _Panel, index: int) -> Judge:
    own, rest = panel.votes[index], np.delete(panel.votes, index, axis=0)
    known = np.count_nonzero(~np.isnan(rest), axis=0)
    others = np.where(known > 0, np.nansum(rest, axis=0) / np.maximum(known, 1), np.nan)
    voted, compared = ~np.isnan(own), ~np.isnan(own - others)
    votes, cycles = own[voted], panel.cycle[voted]
    spread: float | Undefined = Undefined(Reason.TOO_FEW_UNITS if len(votes) else Reason.NO_VOTES)
    if len(votes) > 1:
        spread = float(np.std(votes, ddof=1))
    severity = (others - own)[compared]
    return Judge(
        name=panel.judges[index],
        votes=len(votes),
        cycles=len(np.unique(cycles)),
        mean=mean_estimate(votes, cycles, low=0.0, high=HIGHEST, empty=Reason.NO_VOTES),
        spread=spread,
        severity=mean_estimate(severity, panel.cycle[compared], empty=Reason.NOTHING_PAIRED),
        consensus=panel.correlated(own, others, pearson, Reason.NOTHING_PAIRED),
        consensus_ranks=panel.correlated(own, others, spearman, Reason.NOTHING_PAIRED),
        passed=panel.correlated(own, panel.passed, spearman, Reason.NOTHING_RUN),
    )
