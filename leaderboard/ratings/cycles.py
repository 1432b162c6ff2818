"""Coding cycles: models set problems, solve them and judge each other; ratings of solvers.

`compatible_elo` is the board of MatrixArena, in its stated order. `solver_elo` and `solver_ratings` depend on no order,
and a judge's votes move others alone. `leaderboard.ratings.judging` has the figures of setters and judges. A void cycle
is left out by the caller: everything is computed from the cycles given.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from leaderboard.ratings.intervals import NO_SPREAD, Intervals, careful, clusters_of_each, sandwich
from leaderboard.ratings.values import SCALE, Battles, FloatArray, IntArray, Reason, tally

HIGHEST = 10.0  # of a vote
SAME = 1e-9  # votes: means of five dimensions that are nearer to each other are equal
START = 1200.0
SOLVER_K = 32.0
SETTER_K = 16.0
CYCLE_K = 32.0  # the most that a cycle moves a rating: as much as one game of Elo's, whatever the number of votes


@dataclass(frozen=True, slots=True)
class Vote:
    """A judge's overall score of a solution, 0 to 10.

    Raises ValueError for a vote outside that range or not a number, and for one on the judge's own solution.
    """

    solver: str
    judge: str
    overall: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.overall <= HIGHEST:
            raise ValueError(f"a vote is a number from 0 to 10, not {self.overall}")
        if self.solver == self.judge:
            raise ValueError(f"{self.judge} votes on its own solution")


@dataclass(frozen=True, slots=True)
class Cycle:
    """One problem, its solutions and the votes on them. All contestants solve and judge; one of them is the setter.

    contestants: in the stated order, by which the compatible board plays. votes: valid ones alone, in any sequence; a
    vote that failed is not there. passed: by solver the share (0 to 1) of the tests that the sandbox saw pass, without
    those of whom nothing was run. Raises ValueError for fewer than two contestants, a name twice, a setter, voter or
    solver who is no contestant, two votes of a judge on one solution, and a share outside 0 to 1.
    """

    contestants: tuple[str, ...]
    setter: str
    votes: tuple[Vote, ...] = ()
    passed: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = set(self.contestants)
        if len(self.contestants) < 2 or len(names) != len(self.contestants):
            raise ValueError("a cycle has two contestants or more, each named once")
        if self.setter not in names:
            raise ValueError(f"the setter {self.setter} is not a contestant")
        named = {name for vote in self.votes for name in (vote.solver, vote.judge)} | set(self.passed)
        if strangers := sorted(named - names):
            raise ValueError(f"not contestants: {', '.join(strangers[:5])}")
        if len({(vote.solver, vote.judge) for vote in self.votes}) != len(self.votes):
            raise ValueError("a judge votes once on a solution")
        if not all(0.0 <= share <= 1.0 for share in self.passed.values()):
            raise ValueError("the share of tests passed is from 0 to 1")


def scores(cycle: Cycle, quorum: int = 1) -> dict[str, float]:
    """The mean vote on each solution, 0 to 10, in the contestants' order.

    Who has fewer votes than the quorum is not there: unrated in this cycle, which is not a score of 0. Raises
    ValueError for a quorum below 1.
    """
    if quorum < 1:
        raise ValueError("a quorum is one vote or more")
    given: dict[str, list[float]] = {name: [] for name in cycle.contestants}
    for vote in cycle.votes:
        given[vote.solver].append(vote.overall)
    return {name: math.fsum(votes) / len(votes) for name, votes in given.items() if len(votes) >= quorum}


def overall(cycle: Cycle, quorum: int = 1) -> float | None:
    """The mean of the solvers' mean votes, 0 to 10; None when no solver is rated. Every rated solver counts alike."""
    means = scores(cycle, quorum).values()
    return math.fsum(means) / len(means) if means else None


def calibration(level: float) -> float:
    """How near a problem came to the middle of the scale: 1 - 2 · |level / 10 - 0.5|, level being an overall score.

    1 at 5, 0 at 0 and at 10 and beyond. Raises ValueError for nan.
    """
    if math.isnan(level):
        raise ValueError("a problem without scores has no calibration")
    return 1.0 - 2.0 * abs(min(max(level / HIGHEST, 0.0), 1.0) - 0.5)


# --- boards after each cycle ---


@dataclass(frozen=True, slots=True)
class Snapshot:
    """After a cycle: the rating of everybody who was in a cycle so far, in the sequence in which they came.

    changes: by this cycle, of its contestants, 0 for one without a match. played: how many matches (compatible board)
    or cycles with a comparison (`solver_elo`) everybody has had; those without one are still at the start.
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


@dataclass(frozen=True, slots=True)
class Moment:
    """A cycle and what it left. scores: mean votes (0 to 10) of those who are rated in it, in the stated order.

    overall and calibration of the problem: None when no solver is rated. compatible, solvers: both boards after it.
    """

    cycle: Cycle
    scores: Mapping[str, float]
    overall: float | None
    calibration: float | None
    compatible: Snapshot
    solvers: Snapshot


def replay(cycles: Sequence[Cycle], *, start: float = START, quorum: int = 1) -> tuple[Moment, ...]:
    """A moment per cycle, in the sequence given: what a page shows of each."""
    compatible = compatible_elo(cycles, start=start, quorum=quorum).snapshots
    solvers = solver_elo(cycles, start=start, quorum=quorum).snapshots
    moments = []
    for cycle, one, other in zip(cycles, compatible, solvers, strict=True):
        level = overall(cycle, quorum)
        calibrated = None if level is None else calibration(level)
        moments.append(Moment(cycle, scores(cycle, quorum), level, calibrated, one, other))
    return tuple(moments)


def _history(
    cycles: Iterable[Cycle], start: float, play: Callable[[Cycle, dict[str, float]], Iterable[str]]
) -> History:
    """play: changes the ratings by a cycle, and names those who played, once per match."""
    ratings: dict[str, float] = {}
    played: dict[str, int] = {}
    snapshots = []
    for cycle in cycles:
        for name in cycle.contestants:
            ratings.setdefault(name, start)
            played.setdefault(name, 0)
        before = dict(ratings)
        for name in play(cycle, ratings):
            played[name] += 1
        changes = {name: ratings[name] - before[name] for name in cycle.contestants}
        snapshots.append(Snapshot(dict(ratings), changes, dict(played)))
    return History(tuple(snapshots))


# --- the compatible board: Elo match by match, in the order that MatrixArena states ---
# Its ratings depend on that order and on who judges whom, and a judge's own rating moves against the score that it
# gives: `solver_elo` and `solver_ratings` do neither.


@dataclass(frozen=True, slots=True)
class Match:
    """One match of the compatible board. The opponent of a solver is one of its judges.

    role: as what `name` played. score and expected: 0 to 1. change: what was added to the rating of `name` and taken
    from the opponent's.
    """

    role: Literal["solver", "setter"]
    name: str
    opponent: str
    score: float
    expected: float
    change: float


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

    def play(cycle: Cycle, ratings: dict[str, float]) -> Iterator[str]:
        for match in _matches(cycle, ratings, solver_k, setter_k, quorum):
            yield from (match.name, match.opponent)

    return _history(cycles, start, play)


def matches(
    cycle: Cycle,
    ratings: Mapping[str, float],
    *,
    start: float = START,
    solver_k: float = SOLVER_K,
    setter_k: float = SETTER_K,
    quorum: int = 1,
) -> tuple[Match, ...]:
    """The matches of one cycle in their order, from the ratings before it; those without one begin at `start`.

    Solvers in the contestants' order, each against those of its judges who voted, in the contestants' order; the
    solver's score is its mean vote / 10 in each of them. Then the setter against every other contestant in order, with
    the calibration of its problem as its score. Each match starts from the ratings that the one before left:
    change = k · (score - expected), expected = 1 / (1 + 10^((other - own) / 400)) (Elo 1978, 1.4). Who is unrated plays
    no match as a solver, and a cycle without a rated solver has none at all; but the setter plays every other
    contestant, also one without solution or vote: its opponents stand for the pool, and who of them was unlucky in this
    cycle says nothing of the problem.
    """
    current = {name: ratings.get(name, start) for name in cycle.contestants}
    return tuple(_matches(cycle, current, solver_k, setter_k, quorum))


def _matches(cycle: Cycle, ratings: dict[str, float], solver_k: float, setter_k: float, quorum: int) -> Iterator[Match]:
    """Play the cycle's matches, changing `ratings`."""

    def played(role: Literal["solver", "setter"], name: str, opponent: str, score: float, k: float) -> Match:
        expected = 1.0 / (1.0 + math.pow(10.0, (ratings[opponent] - ratings[name]) / SCALE))
        change = k * (score - expected)
        ratings[name] += change
        ratings[opponent] -= change
        return Match(role, name, opponent, score, expected, change)

    voted = {(vote.solver, vote.judge) for vote in cycle.votes}
    for solver, mean in scores(cycle, quorum).items():
        for judge in cycle.contestants:
            if (solver, judge) in voted:
                yield played("solver", solver, judge, mean / HIGHEST, solver_k)
    level = overall(cycle, quorum)
    if level is not None:
        for other in cycle.contestants:
            if other != cycle.setter:
                yield played("setter", cycle.setter, other, calibration(level), setter_k)


# --- solvers compared with each other, from what one and the same judge gave to both ---


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The battles of solvers, and by battle the index of its cycle. Contestants in the sequence of names."""

    battles: Battles
    cycle: IntArray


def table_of_votes(cycle: Cycle, quorum: int = 1) -> tuple[list[str], FloatArray]:
    """The cycle's names in their sequence, and votes as judges × solvers; nan where there is none.

    The column of a solver with fewer votes than the quorum is nan.
    """
    names = sorted(cycle.contestants)
    place = {name: index for index, name in enumerate(names)}
    rated = scores(cycle, quorum)
    table = np.full((len(names), len(names)), np.nan)
    for vote in cycle.votes:
        if vote.solver in rated:
            table[place[vote.judge], place[vote.solver]] = vote.overall
    return names, table


def _outcomes(table: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """What solvers `first` scored against solvers `second` with each judge, judges × pairs: 1, 0.5, 0, or nan."""
    apart = table[:, first] - table[:, second]
    found: FloatArray = np.where(np.abs(apart) < SAME, 0.5, np.where(apart > 0, 1.0, 0.0))
    return np.where(np.isnan(apart), np.nan, found)


def battles_of(cycles: Sequence[Cycle], quorum: int = 1) -> Compared:
    """A battle for each judge and each two solutions that it scored: who got more wins, equal votes are a tie.

    A judge's severity cancels out, and its own solution is in none of its battles. Solvers with fewer votes than the
    quorum are in no battle. Rows do not depend on the sequence of contestants or votes.
    """
    names = sorted({name for cycle in cycles for name in cycle.contestants})
    place = {name: index for index, name in enumerate(names)}
    none = np.zeros(0, dtype=np.int64)
    lefts, rights, results, lengths = [none], [none], [np.zeros(0)], list[int]()
    for cycle in cycles:
        solvers, table = table_of_votes(cycle, quorum)
        first, second = np.triu_indices(len(solvers), 1)
        score = _outcomes(table, first, second)
        pairs = np.nonzero(~np.isnan(score))
        where = np.array([place[name] for name in solvers], dtype=np.int64)
        lefts.append(where[first[pairs[1]]])
        rights.append(where[second[pairs[1]]])
        results.append(score[pairs])
        lengths.append(len(pairs[0]))
    numbers = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    battles = Battles(np.concatenate(lefts), np.concatenate(rights), np.concatenate(results), names)
    return Compared(battles, numbers)


def solver_elo(cycles: Iterable[Cycle], *, start: float = START, k: float = CYCLE_K, quorum: int = 1) -> History:
    """Elo of solvers, a cycle at a time: the same whatever the order of contestants and votes within a cycle.

    In each cycle solver i meets solver j once, and scores the mean, over the judges who scored both, of 1, 0.5 or 0.
    rating i += k / (n - 1) · the sum over j of (score - expected), all expected from the ratings before the cycle; n
    is how many solvers were rated in it. So no cycle moves anybody by more than k, and the sum of ratings is kept, but
    for newcomers. With all votes there it is `batch_elo` of the cycle's battles with weight "mean".
    The setter wins nothing by its problem, and a judge nothing by its votes: they move others alone in that cycle.
    """

    def play(cycle: Cycle, ratings: dict[str, float]) -> list[str]:
        names, table = table_of_votes(cycle, quorum)
        first, second = (side.reshape(-1) for side in np.indices((len(names), len(names))))
        won = _outcomes(table, first, second)
        judges = np.count_nonzero(~np.isnan(won), axis=0).reshape(len(names), -1)
        np.fill_diagonal(judges, 0)
        score = np.nansum(won, axis=0).reshape(len(names), -1) / np.maximum(judges, 1)
        own = np.array([ratings[name] for name in names])
        expected = 1.0 / (1.0 + 10.0 ** ((own[None, :] - own[:, None]) / SCALE))
        surprise = np.where(judges > 0, score - expected, 0.0).sum(axis=1)
        rated = int(np.count_nonzero(~np.isnan(table).all(axis=0)))
        share = k / max(rated - 1, 1)
        moves = {name: float(share * surprise[i]) for i, name in enumerate(names) if judges[i].any()}
        for name, move in moves.items():
            ratings[name] += move
        return list(moves)

    return _history(cycles, start, play)


@dataclass(frozen=True, slots=True, eq=False)
class SolverRatings:
    """Bradley-Terry ratings of solvers. All arrays are in the sequence of `intervals.ratings.contestants`.

    intervals: as `sandwich` gives them, with cycles as clusters, widened for their number (`solver_ratings`); lower,
    upper and errors are nan where `no_interval` has a reason. Who has no rating has its reason in `ratings.reasons`.
    battles, cycles: how many comparisons each was in, and in how many cycles.
    """

    intervals: Intervals
    no_interval: tuple[Reason | None, ...]
    wins: IntArray
    ties: IntArray
    battles: IntArray
    cycles: IntArray


def solver_ratings(cycles: Sequence[Cycle], *, quorum: int = 1) -> SolverRatings:
    """Bradley-Terry ratings from all judges' comparisons, whose cycles may come in any sequence.

    Comparisons of one cycle share its problem and its solutions, so they are one cluster of the sandwich. It is too
    narrow for few clusters; errors are therefore multiplied by `factor` of the cycles in which the solver was compared:
    rating ± 1.96 errors is its t interval, and differences and ranks that follow from the errors are as careful.
    No interval: of one cycle nothing can be learned about another (TOO_FEW_UNITS), nor where all comparisons came out
    alike (NO_SPREAD). Raises NotConverged as `fit` does.
    """
    compared = battles_of(cycles, quorum)
    battles, count = compared.battles, len(compared.battles.contestants)
    table = tally(battles)
    met = clusters_of_each(battles, compared.cycle)
    found = careful(sandwich(battles, clusters=compared.cycle), met)

    def why_none(index: int) -> Reason | None:
        if (unrated := found.ratings.reasons[index]) is not None:
            return unrated
        if met[index] < 2:
            return Reason.TOO_FEW_UNITS
        return None if found.errors[index] > NO_SPREAD else Reason.NO_SPREAD

    reasons = tuple(map(why_none, range(count)))
    has_none = np.array([reason is not None for reason in reasons], dtype=bool)
    lower, upper, errors = (np.where(has_none, np.nan, one) for one in (found.lower, found.upper, found.errors))
    covariance = np.where(has_none[:, None] | has_none[None, :], np.nan, found.covariance)
    return SolverRatings(
        intervals=replace(found, lower=lower, upper=upper, errors=errors, covariance=covariance),
        no_interval=reasons,
        wins=table.wins.sum(axis=1).astype(np.int64),
        ties=table.ties.sum(axis=1).astype(np.int64),
        battles=table.games.sum(axis=1).astype(np.int64),
        cycles=met,
    )
