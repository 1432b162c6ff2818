"""Voters whose votes look unlike those of voters who compare: one-sided, too fast, against everybody, too many.

A mark is a reason to look, and no proof. All bounds are the constants below; a voter with fewer votes than the bounds
ask for is not marked, since so few say nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.statistics import Share
from leaderboard.ratings.values import BoolArray, FloatArray, IntArray, Reason, Undefined

LEFT, RIGHT, NEITHER = 0, 1, 2
ANSWERS = 3
FEWEST_VOTES = 20  # of a side, compared with others, or cast at all: with fewer no voter is marked
FEWEST_PAUSES = 10  # with fewer there is no median pace
LONGEST_PAUSE = 600.0  # seconds; after a longer one another sitting begins
FASTEST_PACE = 2.0  # seconds from one vote to the next, in the median
LARGEST_SHARE = 0.25  # of all votes that count


class Mark(StrEnum):
    """What is unlike others. The value is a code that pages translate."""

    ONE_SIDED = "one_sided"
    AGAINST_OTHERS = "against_others"
    TOO_FAST = "too_fast"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Voter:
    """votes: all that were cast; counted: those that count. first: chosen, of what chose a side, because it was shown
    first; neither: of all. pace: seconds, in the median. with_others: votes on what others have voted on, too.
    agreement: with the answer that most others gave, of those on which most gave one; chance: what as many agreements
    would be if the answers had nothing to do with what was asked. weight: of all votes that count.
    """

    votes: int
    counted: int
    first: Share
    neither: Share
    pace: float | Undefined
    with_others: Share
    agreement: Share
    chance: float | Undefined
    weight: Share

    @property
    def marks(self) -> tuple[Mark, ...]:
        sides, agreed = self.first.interval, self.agreement.interval
        found = {
            Mark.ONE_SIDED: self.first.of >= FEWEST_VOTES and sides is not None and not sides[0] <= 0.5 <= sides[1],
            Mark.AGAINST_OTHERS: agreed is not None
            and not isinstance(self.chance, Undefined)
            and self.agreement.of >= FEWEST_VOTES
            and agreed[1] < self.chance,
            Mark.TOO_FAST: not isinstance(self.pace, Undefined) and self.pace < FASTEST_PACE,
            Mark.TOO_MANY: self.counted >= FEWEST_VOTES and self.weight.part > LARGEST_SHARE * self.weight.of,
        }
        return tuple(mark for mark, is_beyond in found.items() if is_beyond)


def voters(
    voter: ArrayLike, item: ArrayLike, answer: ArrayLike, first: ArrayLike, seconds: ArrayLike, counts: ArrayLike
) -> list[Voter]:
    """One per voter, numbered from 0, from one row per vote; a voter votes on an item once.

    answer: LEFT, RIGHT or NEITHER, in terms of the item; first: whether left was shown first; seconds: when; both nan
    where it is not known. counts: whether the vote does. Raises ValueError for rows of different lengths.
    """
    who, items, said = (np.asarray(one, dtype=np.int64) for one in (voter, item, answer))
    shown, counting = np.asarray(first, dtype=np.float64), np.asarray(counts, dtype=bool)
    when = np.asarray(seconds, dtype=np.float64)
    if len({len(who), len(items), len(said), len(shown), len(when), len(counting)}) > 1:
        raise ValueError("there is one row per vote")
    count, chose = int(who.max(initial=-1)) + 1, said != NEITHER

    def number(rows: BoolArray) -> list[int]:
        return np.bincount(who[rows], minlength=count).tolist()  # type: ignore[no-any-return]  # numpy's tolist is Any

    is_shared, tables = _compared(who, items, said, counting, count)
    agreed, of = np.trace(tables, axis1=1, axis2=2).tolist(), tables.sum(axis=(1, 2)).tolist()
    total = int(counting.sum())
    placed = chose & ~np.isnan(shown)
    votes, counted, sided, decisive = number(who >= 0), number(counting), number(placed), number(chose)
    firsts, shared = number(placed & ((said == LEFT) == (shown == 1))), number(is_shared)
    paces = _paces(who, when, count)

    def chance(table: IntArray) -> float | Undefined:
        """Of Cohen (1960): the sum over answers of one's own share of it and the others'."""
        total = int(table.sum())
        shares = table.sum(axis=1) / max(total, 1), table.sum(axis=0) / max(total, 1)
        return float(shares[0] @ shares[1]) if total else Undefined(Reason.NOTHING_PAIRED)

    return [
        Voter(
            votes=votes[one],
            counted=counted[one],
            first=Share(firsts[one], sided[one]),
            neither=Share(votes[one] - decisive[one], votes[one]),
            pace=paces.get(one, Undefined(Reason.TOO_FEW_UNITS)),
            with_others=Share(shared[one], votes[one]),
            agreement=Share(agreed[one], of[one]),
            chance=chance(tables[one]),
            weight=Share(counted[one], total),
        )
        for one in range(count)
    ]


def effective(counted: ArrayLike) -> float | None:
    """How many voters with equally many votes would weigh as these do: (Σ n)² / Σ n². None without a vote.

    Source: Kish, "Survey Sampling" (1965).
    """
    votes = np.asarray(counted, dtype=np.float64)
    squares = float((votes**2).sum())
    return float(votes.sum()) ** 2 / squares if squares else None


def _compared(
    who: IntArray, items: IntArray, said: IntArray, counting: BoolArray, count: int
) -> tuple[BoolArray, IntArray]:
    """Which votes are on what others have voted on; and per voter how often they said i where most others said j."""
    numbers = np.unique(items, return_inverse=True)[1].reshape(-1)
    size = int(numbers.max(initial=-1)) + 1
    given = np.bincount(numbers[counting] * ANSWERS + said[counting], minlength=size * ANSWERS).reshape(size, ANSWERS)
    others = given[numbers]
    others[np.flatnonzero(counting), said[counting]] -= 1  # but one's own
    most = others.max(axis=1, initial=0)
    is_shared = most > 0
    is_clear = is_shared & ((others == most[:, None]).sum(axis=1) == 1)
    usual = others.argmax(axis=1) if len(others) else said
    cells = (who * ANSWERS + said) * ANSWERS + usual
    tables = np.bincount(cells[is_clear], minlength=count * ANSWERS**2).reshape(count, ANSWERS, ANSWERS)
    return is_shared, tables


def _paces(who: IntArray, when: FloatArray, count: int) -> dict[int, float]:
    order = np.lexsort((when, who))
    pauses, same = np.diff(when[order]), np.diff(who[order]) == 0
    sitting = same & (pauses <= LONGEST_PAUSE)
    ends = np.searchsorted(who[order][1:][sitting], np.arange(count + 1))
    parts = {one: pauses[sitting][ends[one] : ends[one + 1]] for one in range(count)}
    return {one: float(np.median(part)) for one, part in parts.items() if len(part) >= FEWEST_PAUSES}


def limits() -> Mapping[str, float]:
    """The bounds by name, for pages that explain them."""
    names = ("fewest_votes", "fewest_pauses", "longest_pause", "fastest_pace", "largest_share")
    return dict(zip(names, (FEWEST_VOTES, FEWEST_PAUSES, LONGEST_PAUSE, FASTEST_PACE, LARGEST_SHARE), strict=True))
