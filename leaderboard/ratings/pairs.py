"""Methods that read comparisons of pairs: the preference table and Copeland."""

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray
from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.positions import positions


def strict_preferences(ballots: Ballots) -> FloatArray:
    """On how many ballots candidate i stands above candidate j, n × n. A tie counts for neither."""
    table = positions(ballots)
    count = table.shape[1]
    return np.array([np.count_nonzero(table[:, [i]] < table, axis=0) for i in range(count)], float).reshape(-1, count)


def pairwise(ballots: Ballots) -> FloatArray:
    """The n × n table of preferences: [i, j] ballots prefer i to j, a tie is half a ballot for each; 0 on the diagonal.

    [i, j] + [j, i] is the number of ballots that compare the two.
    """
    table = positions(ballots)
    strict = strict_preferences(ballots)
    known = (~np.isnan(table)).astype(float)
    ties = known.T @ known - strict - strict.T
    np.fill_diagonal(ties, 0.0)
    preferences: FloatArray = strict + ties / 2
    return preferences


def is_compared(ballots: Ballots) -> BoolArray:
    """Which candidates a ballot compares with another one."""
    known: BoolArray = ~np.isnan(positions(ballots))
    compared: BoolArray = np.any(known, axis=0)
    return compared


def copeland(ballots: Ballots) -> FloatArray:
    """Majorities won less majorities lost, from -(n - 1) to n - 1; nan for a candidate that is never compared.

    A drawn pair counts 0, and so does a pair that no ballot compares. Source: Copeland, "A reasonable social welfare
    function" (1951).
    """
    preferences = pairwise(ballots)
    balance = np.sign(preferences - preferences.T).sum(axis=1)
    scores: FloatArray = np.where(is_compared(ballots), balance, np.nan)
    return scores
