"""What reviewers say: rankings with ties, possibly of some of the candidates; and the figures that count them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

from leaderboard.ratings.values import BoolArray, FloatArray, IntArray

Group = tuple[int, ...]
Groups = tuple[Group, ...]
Rule = Literal["leave_out", "mean_of_unused"]


@dataclass(frozen=True, slots=True)
class Ballots:
    """The reviewers' orders. A ballot is a tuple of tie groups, best first; a group is a tuple of candidate indices.

    A candidate that a ballot does not name was either not before the reviewer, and the ballot says nothing of it
    (`offered` empty: the rule "leave_out"), or it was offered and passed over (`offered` has one set per ballot: the
    rule "mean_of_unused"). Those passed over share the positions that are left, which is a tie group at the end: of
    five offered and two named, the other three are at (3 + 4 + 5) / 3 = 4.

    A ballot that names no candidate is an abstention. Raises ValueError for an index that is out of range, named twice
    or not offered, for an empty group, and when `offered` is not one set per ballot.
    """

    orders: tuple[Groups, ...]
    candidates: tuple[str, ...]
    offered: tuple[frozenset[int], ...] = ()

    def __post_init__(self) -> None:
        if self.offered and len(self.offered) != len(self.orders):
            raise ValueError(f"{len(self.offered)} sets of offered candidates for {len(self.orders)} ballots")
        for index, order in enumerate(self.orders):
            names = [candidate for group in order for candidate in group]
            offered = self.offered[index] if self.offered else frozenset()
            if not all(order):
                raise ValueError(f"ballot {index} has an empty group")
            if len(set(names)) != len(names):
                raise ValueError(f"ballot {index} names a candidate twice")
            if not set(names) | offered <= set(range(len(self.candidates))):
                raise ValueError(f"ballot {index} names a candidate that does not exist")
            if self.offered and not set(names) <= offered:
                raise ValueError(f"ballot {index} names a candidate that was not offered")

    @property
    def rule(self) -> Rule:
        """What becomes of candidates that a ballot does not name."""
        return "mean_of_unused" if self.offered else "leave_out"

    def named(self, index: int) -> frozenset[int]:
        """The candidates that the ballot names."""
        return frozenset(candidate for group in self.orders[index] for candidate in group)

    def placed(self, index: int) -> Groups:
        """The ballot's groups, those passed over in a group at the end. Empty for an abstention."""
        order = self.orders[index]
        passed_over = self.offered[index] - self.named(index) if self.offered and order else frozenset()
        return (*order, tuple(sorted(passed_over))) if passed_over else order

    def without_own(self, authors: Iterable[int | None]) -> "Ballots":
        """The ballots without each reviewer's own answer; the positions below it move up.

        authors: per ballot the index of the candidate that the reviewer wrote, None for a reviewer who wrote none.
        """
        owns = tuple(authors)
        orders = tuple(
            tuple(kept for group in order if (kept := tuple(one for one in group if one != own)))
            for order, own in zip(self.orders, owns, strict=True)
        )
        offered = tuple(offer - {own} for offer, own in zip(self.offered, owns, strict=True)) if self.offered else ()
        return Ballots(orders, self.candidates, offered)


# --- figures of positions: mean rank and Borda ---


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


# --- methods that read comparisons of pairs: the preference table and Copeland ---


def strict_preferences(ballots: Ballots) -> FloatArray:
    """On how many ballots candidate i is above candidate j, n × n. A tie counts for neither."""
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
