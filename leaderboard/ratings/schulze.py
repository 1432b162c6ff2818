"""The Schulze method: the strongest path of majorities decides each pair."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.ratings.arrays import FloatArray
from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.pairs import is_compared, strict_preferences
from leaderboard.ratings.placing import Order, by_relation
from leaderboard.ratings.undefined import Reason, Undefined

Strength = Literal["winning_votes", "margins"]


@dataclass(frozen=True, slots=True)
class Schulze:
    """The order, and strengths[i, j]: that of the strongest path from i to j, n × n, in ballots."""

    order: Order
    strengths: FloatArray
    measure: Strength


def schulze(ballots: Ballots, measure: Strength = "winning_votes") -> Schulze | Undefined:
    """i stands above j when the strongest path of majorities from i to j is stronger than the one back.

    A path is as strong as its weakest majority. A majority is as strong as the ballots that made it ("winning_votes",
    ties not counted: Schulze's own advice where ballots are partial) or as its lead ("margins"). Candidates that the
    method cannot part are tied. Source: Schulze, "A new monotonic, clone-independent, reversal symmetric, and
    Condorcet-consistent single-winner election method", Social Choice and Welfare 36 (2011).
    """
    wins = strict_preferences(ballots)
    compared = is_compared(ballots)
    if not compared.any():
        return Undefined(Reason.NO_COMPARISONS)
    links = np.where(wins > wins.T, wins if measure == "winning_votes" else wins - wins.T, 0.0)
    strengths = widest_paths(links)
    return Schulze(by_relation(strengths > strengths.T, compared), strengths, measure)


def widest_paths(links: FloatArray) -> FloatArray:
    """The strength of the strongest path between any two, by Floyd and Warshall's recursion; 0 without a path."""
    strengths = links.copy()
    for middle in range(len(links)):
        np.maximum(strengths, np.minimum(strengths[:, [middle]], strengths[[middle], :]), out=strengths)
    np.fill_diagonal(strengths, 0.0)
    return strengths
