"""Elo's ratings of battles, in their sequence or in batches: for display between fits.

A sequence of battles rated one by one depends on the sequence; a batch does not. Source: Elo, The Rating of
Chessplayers, Past and Present (1978), chapter 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.ratings.values import MEAN, SCALE, Battles, FloatArray, IntArray, tally


@dataclass(frozen=True, slots=True, eq=False)
class Elo:
    """values: ratings in the contestants' sequence, nan for a newcomer without a battle; battles: how many each had."""

    contestants: tuple[str, ...]
    values: FloatArray
    battles: IntArray


def sequential_elo(
    battles: Battles, *, k: float = 32.0, start: float = MEAN, previous: Mapping[str, float] | None = None
) -> Elo:
    """Rate battle by battle in the sequence of rows: rating += k · (score - expected).

    expected = 1 / (1 + 10^((other's rating - own) / 400)). start: of newcomers. previous: ratings to go on from, by
    name. The sum of ratings is kept.
    """
    known = previous or {}
    ratings = [float(known.get(name, start)) for name in battles.contestants]
    for left, right, score in zip(battles.left.tolist(), battles.right.tolist(), battles.score.tolist(), strict=True):
        change = k * (score - 1.0 / (1.0 + 10.0 ** ((ratings[right] - ratings[left]) / SCALE)))
        ratings[left] += change
        ratings[right] -= change
    return _result(battles, np.array(ratings), known)


def batch_elo(
    battles: Battles,
    *,
    k: float = 32.0,
    start: float = MEAN,
    previous: Mapping[str, float] | None = None,
    weight: Literal["each", "mean"] = "each",
) -> Elo:
    """Rate all battles at once from the ratings before them: the sequence of rows changes nothing.

    weight: k counts for each battle (the sum of ratings is kept), or for the mean over a contestant's battles, so that
    many opponents in one batch do not make larger steps than few.
    """
    known, table = previous or {}, tally(battles)
    ratings = np.array([known.get(name, start) for name in battles.contestants], dtype=np.float64)
    expected = 1.0 / (1.0 + 10.0 ** ((ratings[None, :] - ratings[:, None]) / SCALE))
    surprise = (table.points - table.games * expected).sum(axis=1)
    share = np.maximum(table.games.sum(axis=1), 1.0) if weight == "mean" else 1.0
    return _result(battles, ratings + k * surprise / share, known)


def _result(battles: Battles, ratings: FloatArray, previous: Mapping[str, float]) -> Elo:
    names = tuple(battles.contestants)
    counts = np.bincount(np.concatenate([battles.left, battles.right]), minlength=len(names))
    is_known = (counts > 0) | np.array([name in previous for name in names], dtype=bool)
    return Elo(names, np.where(is_known, ratings, np.nan), counts)
