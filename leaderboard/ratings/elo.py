"""Elo's ratings: of battles in their sequence or in batches, and of coding cycles match by match.

For display between fits. A sequence of battles rated one by one depends on the sequence; a batch does not.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leaderboard.ratings.battles import Battles, tally
from leaderboard.ratings.values import MEAN, SCALE, FloatArray, IntArray
from leaderboard.ratings.votes import HIGHEST, Cycle, calibration, overall, scores

Weight = Literal["each", "mean"]

START = 1200.0
SOLVER_K = 32.0
SETTER_K = 16.0
Role = Literal["solver", "setter"]


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
    Source: Elo, The Rating of Chessplayers, Past and Present (1978), chapter 1.
    """
    ratings = _starts(battles, start, previous or {}).tolist()
    for left, right, score in zip(battles.left.tolist(), battles.right.tolist(), battles.score.tolist(), strict=True):
        change = k * (score - 1.0 / (1.0 + 10.0 ** ((ratings[right] - ratings[left]) / SCALE)))
        ratings[left] += change
        ratings[right] -= change
    return _result(battles, np.array(ratings), previous or {})


def batch_elo(
    battles: Battles,
    *,
    k: float = 32.0,
    start: float = MEAN,
    previous: Mapping[str, float] | None = None,
    weight: Weight = "each",
) -> Elo:
    """Rate all battles at once from the ratings before them: the sequence of rows changes nothing.

    weight: k counts for each battle (the sum of ratings is kept), or for the mean over a contestant's battles, so that
    many opponents in one batch do not make larger steps than few.
    """
    ratings = _starts(battles, start, previous or {})
    table = tally(battles)
    expected = 1.0 / (1.0 + 10.0 ** ((ratings[None, :] - ratings[:, None]) / SCALE))
    surprise = (table.points - table.games * expected).sum(axis=1)
    share = np.maximum(table.games.sum(axis=1), 1.0) if weight == "mean" else 1.0
    return _result(battles, ratings + k * surprise / share, previous or {})


def _starts(battles: Battles, start: float, previous: Mapping[str, float]) -> FloatArray:
    return np.array([previous.get(name, start) for name in battles.contestants], dtype=np.float64)


def _result(battles: Battles, ratings: FloatArray, previous: Mapping[str, float]) -> Elo:
    names = tuple(battles.contestants)
    counts = np.bincount(np.concatenate([battles.left, battles.right]), minlength=len(names))
    is_known = (counts > 0) | np.array([name in previous for name in names], dtype=bool)
    return Elo(names, np.where(is_known, ratings, np.nan), counts)


# --- the compatible board: Elo match by match, in the order that MatrixArena states ---
# Its ratings depend on that order and on who judges whom, and a judge's own rating moves against the score that it
# gives: `solver_elo` and `solver_ratings` do neither.


@dataclass(frozen=True, slots=True)
class Match:
    """One match of the compatible board. The opponent of a solver is one of its judges.

    role: as what `name` played. score and expected: 0 to 1. change: what was added to the rating of `name` and taken
    from the opponent's.
    """

    role: Role
    name: str
    opponent: str
    score: float
    expected: float
    change: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """After a cycle: the rating of everybody who stood in a cycle so far, in the sequence in which they came.

    changes: by this cycle, of its contestants, 0 for one without a match. played: how many matches (compatible board)
    or cycles with a comparison (`solver_elo`) everybody has had; whoever has none still stands at the start.
    """

    ratings: Mapping[str, float]
    changes: Mapping[str, float]
    played: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class History:
    """A snapshot per cycle. The same cycles give the same history, so leaving a cycle out is an exact replay."""

    snapshots: tuple[Snapshot, ...]

    @property
    def ratings(self) -> Mapping[str, float]:
        """The ratings after the last cycle; empty without one."""
        return self.snapshots[-1].ratings if self.snapshots else {}


def expected_score(own: float, other: float) -> float:
    """1 / (1 + 10^((other - own) / 400)). Source: Elo, The Rating of Chessplayers, Past and Present (1978), 1.4."""
    return 1.0 / (1.0 + math.pow(10.0, (other - own) / SCALE))


def compatible_elo(
    cycles: Iterable[Cycle],
    *,
    start: float = START,
    solver_k: float = SOLVER_K,
    setter_k: float = SETTER_K,
    quorum: int = 1,
) -> History:
    """Ratings after each cycle by the rules of `matches`, in the sequence of cycles. start: of newcomers.

    The sum of ratings is kept, but for newcomers.
    """
    ratings: dict[str, float] = {}
    played: dict[str, int] = {}
    snapshots = []
    for cycle in cycles:
        for name in cycle.contestants:
            ratings.setdefault(name, start)
            played.setdefault(name, 0)
        before = dict(ratings)
        for match in _matches(cycle, ratings, solver_k, setter_k, quorum):
            played[match.name] += 1
            played[match.opponent] += 1
        changes = {name: ratings[name] - before[name] for name in cycle.contestants}
        snapshots.append(Snapshot(dict(ratings), changes, dict(played)))
    return History(tuple(snapshots))


def matches(
    cycle: Cycle,
    ratings: Mapping[str, float],
    *,
    start: float = START,
    solver_k: float = SOLVER_K,
    setter_k: float = SETTER_K,
    quorum: int = 1,
) -> tuple[Match, ...]:
    """The matches of one cycle in their order, from the ratings before it; whoever has none begins at `start`.

    Solvers in the contestants' order, each against those of its judges who voted, in the contestants' order; the
    solver's score is its mean vote / 10 in each of them. Then the setter against every other contestant in order, with
    the calibration of its problem as its score. Each match starts from the ratings that the one before left:
    change = k · (score - expected). Who is unrated plays no match as a solver, and a cycle in which nobody is rated has
    none at all; but the setter plays every other contestant, also one without solution or vote: its opponents stand
    for the pool, and who of them was unlucky in this cycle says nothing of the problem.
    """
    current = {name: ratings.get(name, start) for name in cycle.contestants}
    return tuple(_matches(cycle, current, solver_k, setter_k, quorum))


def _matches(cycle: Cycle, ratings: dict[str, float], solver_k: float, setter_k: float, quorum: int) -> Iterator[Match]:
    """Play the cycle's matches, changing `ratings`."""
    voted = {(vote.solver, vote.judge) for vote in cycle.votes}
    for solver, mean in scores(cycle, quorum).items():
        for judge in cycle.contestants:
            if (solver, judge) in voted:
                yield _played(ratings, "solver", solver, judge, mean / HIGHEST, solver_k)
    level = overall(cycle, quorum)
    if level is not None:
        for other in cycle.contestants:
            if other != cycle.setter:
                yield _played(ratings, "setter", cycle.setter, other, calibration(level), setter_k)


def _played(ratings: dict[str, float], role: Role, name: str, opponent: str, score: float, k: float) -> Match:
    expected = expected_score(ratings[name], ratings[opponent])
    change = k * (score - expected)
    ratings[name] += change
    ratings[opponent] -= change
    return Match(role, name, opponent, score, expected, change)
