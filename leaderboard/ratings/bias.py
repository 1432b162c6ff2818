"""What verdicts owe to the place, or to the length, of answers: one covariate beside the ratings, see `covariates`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.covariates import controlled
from leaderboard.ratings.style import relative_difference
from leaderboard.ratings.values import Battles, FloatArray, Reason, Undefined


@dataclass(frozen=True, slots=True, eq=False)
class Bias:
    """effect: what one unit of the covariate adds to the left one's rating, in Elo, with standard error and 95 %
    interval (sandwich). n: the battles it rests on. ratings: with the covariate held at 0, nan where there is none.
    """

    effect: float
    error: float
    lower: float
    upper: float
    n: int
    ratings: FloatArray


def position_bias(battles: Battles, *, clusters: ArrayLike | None = None) -> Bias | Undefined:
    """How many points being on the left is worth: above 0 the judge leans to the left.

    Undefined when sides cannot be separated from contestants, as when each is always on the same side, or when one side
    always wins.
    """
    return covariate_bias(battles, np.ones(len(battles)), clusters=clusters)


def length_bias(
    battles: Battles, left_lengths: ArrayLike, right_lengths: ArrayLike, *, clusters: ArrayLike | None = None
) -> Bias | Undefined:
    """How many points one standard deviation of relative length is worth: above 0 the judge leans to longer answers.

    The covariate is (left - right) / (left + right), over its root mean square. Lengths: one per battle, 0 or more, of
    any unit.
    """
    relative, size = relative_difference(left_lengths, right_lengths)
    return covariate_bias(battles, relative, clusters=clusters) if size else Undefined(Reason.CONSTANT)


def covariate_bias(battles: Battles, covariate: ArrayLike, *, clusters: ArrayLike | None = None) -> Bias | Undefined:
    """The effect of any number per battle that speaks for the left one when positive.

    Estimated on all rated groups of contestants. clusters: one whole number per battle; battles of one cluster
    (both orders of a pair, all pairs on a sample) are one observation, and the error is made wider for few of them, as
    in `by_items`; undefined for a single one. Raises ValueError unless there is one finite number, and one cluster, per
    battle.
    """
    found = controlled(battles, np.reshape(np.asarray(covariate, dtype=np.float64), (1, -1)), clusters=clusters)
    if isinstance(found, Undefined):
        return found
    if reason := found.reasons[0]:
        return Undefined(reason)
    effect, error, lower, upper = (
        float(values[0]) for values in (found.effects, found.errors, found.lower, found.upper)
    )
    return Bias(effect, error, lower, upper, found.n, found.intervals.ratings.values)
