"""What all ratings share: battles and their table of counts, the scale of Elo, the reasons why there is no number."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MEAN = 1000.0
SCALE = 400.0
ELO = SCALE / math.log(10)  # Elo points in one nat
NORMAL = 1.959963984540054  # the 97.5 % quantile of the normal distribution
TAIL = 0.025
COVERAGE = 1 - 2 * TAIL
LOST, TIED, WON = range(3)  # outcomes for the left one: twice the score
OUTCOME_BITS = 2
BLOCK = 16_384  # battles that are counted at a time: what is computed on the way stays in the processor's cache


class Reason(StrEnum):
    """Why there is no number. The value is a code that pages translate; `sentence` says it in English."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Self:
        found = str.__new__(cls, code)
        found._value_, found.sentence = code, sentence
        return found

    NO_COMPARISONS = "no_comparisons", "no ballot compares two candidates"
    TOO_MANY_CANDIDATES = "too_many_candidates", "an exact order is sought for up to 8 candidates only"
    INCOMPLETE_BALLOTS = "incomplete_ballots", "the ballots do not all rank the same candidates"
    ONE_BALLOT = "one_ballot", "agreement needs at least two ballots"
    ONE_CANDIDATE = "one_candidate", "an order needs two candidates or more"
    CONSTANT = "constant", "all values are the same, so agreement cannot be distinguished from chance"
    NOTHING_PAIRED = "nothing_paired", "no unit has values from two raters"
    UNEQUAL_RATERS = "unequal_raters", "the units were not all rated by the same number of raters"
    TOO_FEW_UNITS = "too_few_units", "an interval needs two units or more"
    MOSTLY_UNDEFINED = "mostly_undefined", "the number does not exist in half of the resamples or more"
    UNDEFEATED = "undefeated", "won every battle, so no rating is high enough"
    WINLESS = "winless", "lost every battle, so no rating is low enough"
    ABOVE = "above", "stands above the rated contestants without ever having lost towards them"
    BELOW = "below", "stands below the rated contestants without ever having won towards them"
    UNLINKED = "unlinked", "wins and losses do not link it with the rated contestants"
    NO_BATTLES = "no_battles", "has not been in any battle"
    SEPARATED = "separated", "the battles are explained without error, so the coefficient has no finite value"
    CONFOUNDED = "confounded", "it goes with who battles whom, so its effect cannot be told from the ratings"
    NO_VOTES = "no_votes", "no vote was counted"
    NOTHING_RUN = "nothing_run", "nothing that was judged was also run in the sandbox"
    NO_SPREAD = "no_spread", "no variation, so there is no interval"
    UNLABELED = "unlabeled", "no unit has a label, or none of a part of the units has one"
    USELESS_JUDGE = "useless_judge", "the judge says yes as often where people say no, so it says nothing of the rate"
    SEVERAL_PROVIDERS = "several_providers", "probabilities that different providers gave are not comparable"
    RESTS_ON_ONE = (
        "rests_on_one",
        "without one of the cycles the figure does not exist, so an interval does not either",
    )


@dataclass(frozen=True, slots=True)
class Undefined:
    """No number, and why."""

    reason: Reason

    def __str__(self) -> str:
        return f"undefined: {self.reason.sentence}"


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """One row per battle: who was left, who was right (indices of contestants), and the left one's score.

    score: 1 the left one won, 0.5 a tie, 0 the right one won. A battle without a verdict has no row. Raises ValueError
    for other scores, unequal lengths, an index out of range, a contestant against itself, or a name used twice.
    """

    left: IntArray
    right: IntArray
    score: FloatArray
    contestants: Sequence[str]
    counts: IntArray = field(init=False, repr=False)  # [left, right, outcome]: how often

    def __init__(self, left: ArrayLike, right: ArrayLike, score: ArrayLike, contestants: Sequence[str]) -> None:
        sides, scores = [np.asarray(left), np.asarray(right)], np.asarray(score, dtype=np.float64)
        if any(side.size and side.dtype.kind not in "iu" for side in sides):
            raise ValueError("left and right are whole numbers, indices of contestants")
        lefts, rights = (side.astype(np.int64, copy=False) for side in sides)
        if not lefts.shape == rights.shape == scores.shape or lefts.ndim != 1:
            raise ValueError("left, right and score are one-dimensional and of one length")
        if repeated := [name for name, times in Counter(contestants).items() if times > 1]:
            raise ValueError(f"contestants are named twice: {', '.join(repeated[:5])}")
        object.__setattr__(self, "left", lefts)
        object.__setattr__(self, "right", rights)
        object.__setattr__(self, "score", scores)
        object.__setattr__(self, "contestants", tuple(contestants))
        object.__setattr__(self, "counts", _counts(lefts, rights, scores, len(contestants)))

    def __len__(self) -> int:
        return len(self.left)


def _counts(left: IntArray, right: IntArray, score: FloatArray, count: int) -> IntArray:
    """How often each outcome was, count × count × 4 (the last is not used). Battles are checked on the way, in the one
    pass over them: there may be millions. Raises ValueError.
    """
    shape = (count, count, 2**OUTCOME_BITS)
    counts, block = np.zeros(math.prod(shape), dtype=np.int64), max(BLOCK, math.prod(shape))
    for start in range(0, len(left), block):
        rows = slice(start, start + block)
        lefts, rights, scores = left[rows], right[rows], score[rows]
        if max(side.view(np.uint64).max() for side in (lefts, rights)) >= count:  # negative ones are large there
            raise ValueError("left or right is not the index of a contestant")
        won, tied = scores == 1, scores == 0.5
        if np.count_nonzero(won) + np.count_nonzero(tied) < np.count_nonzero(scores):
            raise ValueError("a score is 1, 0.5 or 0; a battle without a verdict has no row")
        cells: IntArray = lefts * np.int64(count)
        cells += rights
        cells <<= OUTCOME_BITS
        cells |= WON * won.view(np.int8) + tied.view(np.int8)
        counts += np.bincount(cells, minlength=len(counts))
    counts = counts.reshape(shape)
    if counts.trace().any():
        raise ValueError("a contestant cannot battle itself")
    return counts


@dataclass(frozen=True, eq=False)
class Table:
    """How often each beat each: wins[i, j] and ties[i, j] (the same both ways), n × n; fractions are allowed."""

    wins: FloatArray
    ties: FloatArray
    contestants: tuple[str, ...]

    @cached_property
    def points(self) -> FloatArray:
        """What i took from j: wins, and half the ties."""
        return self.wins + self.ties / 2

    @cached_property
    def games(self) -> FloatArray:
        """How often i and j met."""
        return self.wins + self.wins.T + self.ties

    def ordered(self, order: IntArray) -> "Table":
        """The same table with its contestants in another sequence."""
        chosen = np.ix_(order, order)
        return Table(self.wins[chosen], self.ties[chosen], tuple(self.contestants[i] for i in order))


def tally(battles: Battles) -> Table:
    """The table of the battles; the same whatever the sequence of rows."""
    lost, tied, won = (battles.counts[:, :, outcome].astype(float) for outcome in (LOST, TIED, WON))
    return Table(won + lost.T, tied + tied.T, tuple(battles.contestants))
