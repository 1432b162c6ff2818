"""Methods that read positions: mean rank and Borda."""

from itertools import accumulate

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.ballots import Ballots


def positions(ballots: Ballots) -> FloatArray:
    """Position of each candidate on each ballot, ballots × candidates, from 1; nan where a ballot does not place it.

    Tied candidates share the mean of the positions that they fill. Candidates passed over share the unused ones. A
    ballot that places fewer than two candidates compares nothing: its row is nan.
    """
    table = np.full((len(ballots.orders), len(ballots.candidates)), np.nan)
    for index in range(len(ballots.orders)):
        groups = ballots.placed(index)
        ends = list(accumulate(map(len, groups)))
        if ends and ends[-1] > 1:
            for group, end in zip(groups, ends, strict=True):
                table[index, list(group)] = end - (len(group) - 1) / 2
    return table


def votes(ballots: Ballots) -> IntArray:
    """On how many ballots each candidate is named; being passed over is no vote."""
    counts = np.zeros(len(ballots.candidates), dtype=np.int64)
    for index in range(len(ballots.orders)):
        counts[list(ballots.named(index))] += 1
    return counts


def mean_rank(ballots: Ballots) -> FloatArray:
    """Mean position of each candidate over the ballots that place it: 1 is best; nan where none does."""
    return _mean_of_known(positions(ballots))


def borda(ballots: Ballots) -> FloatArray:
    """Normalised Borda score: the mean over ballots of (m - position) / (m - 1), m candidates placed on the ballot.

    0 is always last, 1 always first, nan where no ballot places the candidate. Ballots of different lengths count
    alike, which they do not in a mean rank. Source: de Borda, "Mémoire sur les élections au scrutin" (1781).
    """
    table = positions(ballots)
    placed = np.count_nonzero(~np.isnan(table), axis=1)[:, None]
    return _mean_of_known((placed - table) / np.maximum(placed - 1, 1))


def _mean_of_known(table: FloatArray) -> FloatArray:
    """The mean of each column's known values, nan for a column without any; the same whatever the rows' sequence."""
    known = np.count_nonzero(~np.isnan(table), axis=0)
    total = np.nansum(np.sort(table, axis=0), axis=0)
    means: FloatArray = np.where(known > 0, total / np.maximum(known, 1), np.nan)
    return means
