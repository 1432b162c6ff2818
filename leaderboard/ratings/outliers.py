"""Voters whose votes look unlike those of somebody who compares: one-sided, too fast, against everybody, too many.

A mark is a reason to look, and no proof. All bounds are the constants below; a voter with fewer votes than the bounds
ask for is not marked, since nothing can be told of them.
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
FEWEST_VOTES = 20  # of a side, compared with others, or cast at all: with fewer nobody is marked
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
        return tuple(mark for mark, is_passed in BOUNDS.items() if is_passed(self))


def voters(
    voter: ArrayLike, item: ArrayLike, answer: ArrayLike, first: ArrayLike, seconds: ArrayLike, counts: ArrayLike
) -> list[Voter]:
    """One per voter, numbered from 0, from one row per vote; somebody votes on an item once.

    answer: LEFT, RIGHT or NEITHER, in terms of the item; first: whether left was shown first; seconds: when; counts:
    whether the vote does. Raises ValueError for rows of different lengths.
    """
    who, items, said = (_numbers(one) for one in (voter, item, answer))
    is_first, counting = np.asarray(first, dtype=bool), np.asarray(counts, dtype=bool)
    when = np.asarray(seconds, dtype=np.float64)
    if len({len(who), len(items), len(said), len(is_first), len(when), len(counting)}) > 1:
        raise ValueError("there is one row per vote")
    count = int(who.max(initial=-1)) + 1
    chose = said != NEITHER
    compared = _compared(who, items, said, counting, count)
    sums = {
        "votes": np.bincount(who, minlength=count),
        "counted": np.bincount(who[counting], minlength=count),
        "sided": np.bincount(who[chose], minlength=count),
        "first": np.bincount(who[chose & ((said == LEFT) == is_first)], minlength=count),
    }
    paces = _paces(who, when, count)
    return [
        Voter(
            votes=int(sums["votes"][one]),
            counted=int(sums["counted"][one]),
            first=Share(int(sums["first"][one]), int(sums["sided"][one])),
            neither=Share(int(sums["votes"][one] - sums["sided"][one]), int(sums["votes"][one])),
            pace=paces.get(one, Undefined(Reason.TOO_FEW_UNITS)),
            with_others=Share(int(compared.shared[one]), int(sums["votes"][one])),
            agreement=Share(int(compared.agreed[one]), int(compared.tables[one].sum())),
            chance=_chance(compared.tables[one]),
            weight=Share(int(sums["counted"][one]), int(counting.sum())),
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


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """Per voter: votes on shared items; agreements; and how often they said i where most others said j."""

    shared: IntArray
    agreed: IntArray
    tables: IntArray


def _compared(who: IntArray, items: IntArray, said: IntArray, counting: BoolArray, count: int) -> _Compared:
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
    shared = np.bincount(who[is_shared], minlength=count)
    return _Compared(shared, np.trace(tables, axis1=1, axis2=2), tables)


def _chance(table: IntArray) -> float | Undefined:
    """Of Cohen (1960): the sum over answers of one's own share of it and the others'."""
    total = int(table.sum())
    if not total:
        return Undefined(Reason.NOTHING_PAIRED)
    return float((table.sum(axis=1) / total) @ (table.sum(axis=0) / total))


def _paces(who: IntArray, when: FloatArray, count: int) -> dict[int, float]:
    order = np.lexsort((when, who))
    pauses, same = np.diff(when[order]), np.diff(who[order]) == 0
    sitting = same & (pauses <= LONGEST_PAUSE)
    owner = who[order][1:][sitting]
    ends = np.searchsorted(owner, np.arange(count + 1))
    found = pauses[sitting]
    parts = ((one, found[ends[one] : ends[one + 1]]) for one in range(count))
    return {one: float(np.median(part)) for one, part in parts if len(part) >= FEWEST_PAUSES}


def _is_one_sided(one: Voter) -> bool:
    ends = one.first.interval
    return one.first.of >= FEWEST_VOTES and ends is not None and not ends[0] <= 0.5 <= ends[1]


def _is_against_others(one: Voter) -> bool:
    ends = one.agreement.interval
    if ends is None or isinstance(one.chance, Undefined) or one.agreement.of < FEWEST_VOTES:
        return False
    return ends[1] < one.chance


def _is_too_fast(one: Voter) -> bool:
    return not isinstance(one.pace, Undefined) and one.pace < FASTEST_PACE


def _has_too_many(one: Voter) -> bool:
    return one.counted >= FEWEST_VOTES and one.weight.part > LARGEST_SHARE * one.weight.of


BOUNDS = {
    Mark.ONE_SIDED: _is_one_sided,
    Mark.AGAINST_OTHERS: _is_against_others,
    Mark.TOO_FAST: _is_too_fast,
    Mark.TOO_MANY: _has_too_many,
}


def _numbers(values: ArrayLike) -> IntArray:
    return np.asarray(values, dtype=np.int64)


def limits() -> Mapping[str, float]:
    """The bounds by name, for whoever explains them."""
    return {
        "fewest_votes": FEWEST_VOTES,
        "fewest_pauses": FEWEST_PAUSES,
        "longest_pause": LONGEST_PAUSE,
        "fastest_pace": FASTEST_PACE,
        "largest_share": LARGEST_SHARE,
    }
