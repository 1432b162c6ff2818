"""Battles drawn anew, on the cells of the table: what a resample of single battles gives, without touching them."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.ratings.arrays import FloatArray, IntArray
from leaderboard.ratings.battles import Table

Kind = Literal["multinomial", "bayesian"]
LARGE = 10_000  # battles
SPARED = 4.0  # standard deviations of a Poisson sum: above the number wanted once in 30,000 draws, then drawn again


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of a part's table that hold battles: per pair i < j won, tied and lost by i.

    counts: battles per cell, and where: which of the 3 · pairs columns a cell is. gather: for each of the n × n places
    of a table, its column among [points of i, points of j, 0].
    """

    counts: FloatArray
    where: IntArray
    gather: IntArray
    pairs: int
    size: int

    def drawn(self, random: np.random.Generator, rounds: int, kind: Kind) -> FloatArray:
        """points[round, i, j], rounds × n × n: tables of as many battles drawn with replacement (multinomial), or the
        battles with random weights of mean 1 (bayesian: Dirichlet weights but for their sum, which changes nothing).
        """
        columns = np.zeros((rounds, 3 * self.pairs))
        if kind == "bayesian":
            columns[:, self.where] = random.standard_gamma(self.counts, size=(rounds, len(self.counts)))
        else:
            columns[:, self.where] = multinomial(random, self.counts, rounds)
        return self._tables(columns)

    def _tables(self, columns: FloatArray) -> FloatArray:
        rounds, pairs = len(columns), self.pairs
        taken = np.zeros((rounds, 2 * pairs + 1))
        half = columns[:, pairs : 2 * pairs] / 2
        np.add(columns[:, :pairs], half, out=taken[:, :pairs])
        np.add(columns[:, 2 * pairs :], half, out=taken[:, pairs : 2 * pairs])
        return np.take(taken, self.gather, axis=1).reshape(rounds, self.size, self.size)


def cells_of(table: Table, part: IntArray, kind: Kind) -> Cells:
    """The part's cells. Raises ValueError when whole battles are to be drawn and a count is a fraction."""
    chosen = np.ix_(part, part)
    wins, ties = table.wins[chosen], table.ties[chosen]
    upper, lower = np.nonzero(np.triu(wins + wins.T + ties, 1))
    counts = np.concatenate([wins[upper, lower], ties[upper, lower], wins[lower, upper]])
    if kind == "multinomial" and (counts != np.rint(counts)).any():
        raise ValueError("fractions of battles cannot be drawn: use the bayesian bootstrap")
    where, size, pairs = np.flatnonzero(counts), len(part), len(upper)
    gather = np.full(size * size, 2 * pairs, dtype=np.int64)
    gather[upper * size + lower] = np.arange(pairs)
    gather[lower * size + upper] = np.arange(pairs, 2 * pairs)
    return Cells(counts[where], where, gather, pairs, size)


def multinomial(random: np.random.Generator, counts: FloatArray, rounds: int) -> FloatArray:
    """Counts of as many battles drawn with replacement, rounds × cells.

    Large tables are drawn as Poisson counts with a slightly lower mean and topped up with single battles, which is the
    same law in half of the time: Poisson counts are multinomial given their sum, whatever that is, as long as it is
    not above the number wanted.
    """
    total = int(counts.sum())
    if total < LARGE:
        return random.multinomial(total, counts / total, size=rounds).astype(np.float64)
    means = counts * (1 - SPARED / math.sqrt(total))
    cell_of = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    return np.stack([_topped_up(random, means, cell_of) for _ in range(rounds)])


def _topped_up(random: np.random.Generator, means: FloatArray, cell_of: IntArray) -> FloatArray:
    while (missing := len(cell_of) - int((drawn := random.poisson(means)).sum())) < 0:
        pass
    single = cell_of[random.integers(len(cell_of), size=missing)]
    drawn += np.bincount(single, minlength=len(means))
    return drawn.astype(np.float64)
