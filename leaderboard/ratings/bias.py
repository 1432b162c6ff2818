"""What verdicts owe to the place and the length of answers, estimated together with the ratings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.arrays import FloatArray
from leaderboard.ratings.battles import Battles
from leaderboard.ratings.covariate import Rows, maximise_with
from leaderboard.ratings.fitting import fitted
from leaderboard.ratings.scale import ELO, MEAN, NORMAL
from leaderboard.ratings.undefined import Reason, Undefined
from leaderboard.ratings.widening import factor


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
    """How many points standing on the left is worth: above 0 the judge leans to the left.

    logit p(left wins) = strength left - strength right + effect. Undefined when sides cannot be told from contestants,
    as when each always stands on the same side, or when one side always wins.
    Source: Davidson & Beaver, "On extending the Bradley-Terry model to incorporate within-pair order effects",
    Biometrics 33 (1977).
    """
    return covariate_bias(battles, np.ones(len(battles)), clusters=clusters)


def length_bias(
    battles: Battles, left_lengths: ArrayLike, right_lengths: ArrayLike, *, clusters: ArrayLike | None = None
) -> Bias | Undefined:
    """How many points one standard deviation of relative length is worth: above 0 the judge leans to longer answers.

    The covariate is (left - right) / (left + right), over its root mean square. Lengths: one per battle, 0 or more, of
    any unit. Source: the style control of Chiang et al., "Chatbot Arena" (2024), and its code in FastChat.
    """
    left, right = np.asarray(left_lengths, dtype=np.float64), np.asarray(right_lengths, dtype=np.float64)
    if left.shape != battles.left.shape or right.shape != battles.left.shape:
        raise ValueError("lengths are given one per battle")
    if not (np.isfinite(left) & np.isfinite(right) & (left >= 0) & (right >= 0)).all():
        raise ValueError("a length is a finite number, 0 or more")
    relative = np.divide(left - right, left + right, out=np.zeros_like(left), where=left + right > 0)
    size = float(np.sqrt(np.mean(relative**2))) if relative.size else 0.0
    return covariate_bias(battles, relative / size, clusters=clusters) if size else Undefined(Reason.CONSTANT)


def covariate_bias(battles: Battles, covariate: ArrayLike, *, clusters: ArrayLike | None = None) -> Bias | Undefined:
    """The effect of any number per battle that speaks for the left one when positive.

    Estimated on the largest rated group of contestants. clusters: one whole number per battle; battles of one cluster
    (both orders of a pair, all pairs on a sample) are one observation, and the error is made wider for few of them, as
    in `by_items`; undefined for a single one. Raises ValueError unless there is one finite number, and one cluster, per
    battle.
    """
    values = np.asarray(covariate, dtype=np.float64)
    if values.shape != battles.left.shape or not np.isfinite(values).all():
        raise ValueError("a covariate has one finite number per battle")
    found = fitted(battles, {})
    if not found.parts:
        return Undefined(Reason.NO_BATTLES if not len(battles) else Reason.SEPARATED)
    part = max(found.parts, key=len)
    labels = np.arange(len(battles)) if clusters is None else np.asarray(clusters)
    if labels.shape != battles.left.shape:
        raise ValueError("clusters are given one per battle")
    rows = Rows.of(battles, found.order[part], values, labels)
    if clusters is not None and rows.clusters < 2:
        return Undefined(Reason.TOO_FEW_UNITS)
    solved = maximise_with(rows, found.solution.strengths[part])
    if isinstance(solved, Undefined):
        return solved
    effect, error = ELO * solved.effect, ELO * solved.error * (1.0 if clusters is None else factor(rows.clusters))
    ratings = np.full(len(found.order), np.nan)
    ratings[found.order[part]] = MEAN + ELO * solved.strengths
    return Bias(effect, error, effect - NORMAL * error, effect + NORMAL * error, len(rows.score), ratings)
