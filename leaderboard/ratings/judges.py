"""Judges: how severe they are, how far they agree, and what their votes have to do with what the sandbox saw."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray
from leaderboard.ratings.estimates import Estimate, jackknifed, mean_estimate, pearson
from leaderboard.ratings.krippendorff import krippendorff_alpha
from leaderboard.ratings.panel import Panel, panel_of
from leaderboard.ratings.tables import spearman
from leaderboard.ratings.undefined import Reason, Undefined
from leaderboard.ratings.votes import Cycle

Correlation = Callable[[FloatArray, FloatArray], float | Undefined]


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
