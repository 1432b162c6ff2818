"""What rankings owe to authorship and to the sequence in which answers were shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.positions import positions


@dataclass(frozen=True, slots=True, eq=False)
class SelfPreference:
    """Per candidate: own, the position its author gave it; peers, the mean position others gave it; values, own less
    peers. Below 0: the author puts it higher than the others do. nan where a part is missing.

    own_n, peers_n: from how many ballots.
    """

    values: FloatArray
    own: FloatArray
    peers: FloatArray
    own_n: IntArray
    peers_n: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PositionEffect:
    """By the place at which an answer was shown (first to last): the mean position it was given, and n, how many were.

    Where the places are balanced over candidates, all means are alike unless the place matters. nan where n is 0.
    """

    means: FloatArray
    n: IntArray


def self_preference(ballots: Ballots, authors: Sequence[int | None]) -> SelfPreference:
    """Own position less the peers' mean position of each candidate, in positions.

    ballots: as they were cast, with own answers. authors: per ballot the candidate that the reviewer wrote, or None.
    Positions count among all that the ballot places, so ballots of unlike lengths are not quite comparable.
    """
    table = positions(ballots)
    written = np.array([-1 if author is None else author for author in authors], dtype=np.int64)
    if len(written) != len(table):
        raise ValueError(f"{len(written)} authors for {len(table)} ballots")
    is_own = written[:, None] == np.arange(table.shape[1])
    own, own_n = _means(np.where(is_own, table, np.nan))
    peers, peers_n = _means(np.where(is_own, np.nan, table))
    return SelfPreference(own - peers, own, peers, own_n, peers_n)


def position_effect(ballots: Ballots, shown: Sequence[Sequence[int]]) -> PositionEffect:
    """The mean position given to what was shown first, second, …

    shown: per ballot the candidates in the sequence in which its reviewer saw them. Raises ValueError when there is
    not one sequence per ballot, or when one shows a candidate twice.
    """
    table = positions(ballots)
    if len(shown) != len(table):
        raise ValueError(f"{len(shown)} sequences for {len(table)} ballots")
    if any(len(set(sequence)) != len(sequence) for sequence in shown):
        raise ValueError("a candidate was shown twice to one reviewer")
    by_place = np.full((len(table), max(map(len, shown), default=0)), np.nan)
    for index, sequence in enumerate(shown):
        by_place[index, : len(sequence)] = table[index, list(sequence)]
    return PositionEffect(*_means(by_place))


def _means(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The mean of each column's known values, and how many there are."""
    known = np.count_nonzero(~np.isnan(table), axis=0)
    return np.where(known > 0, np.nansum(table, axis=0) / np.maximum(known, 1), np.nan), known
