"""What cycles say of models, as plain values: what pages, files and the API show."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95 % interval. Where there is none, it is None and a reason says why, never 0.

    reason, no_interval: keys of `words.REASONS`. units: how many it rests on; cycles: from how many cycles.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    no_interval: str = ""
    units: int = 0
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class Solver:
    """How a model stands. compatible: sequential Elo in the stated order; change: in the last cycle, None when it was
    not in it; reverse: what `compatible` would be with the contestants of each cycle in reverse order.

    elo, elo_change: the batch Elo, which depends on no order within a cycle; None before its first comparison.
    rating, lower, upper: Bradley-Terry, or `reason` why there is none; rank, best, worst: the rank with its interval;
    group: those who cannot be told from its highest; first: the probability of being the strongest, 0 to 1.
    battles: comparisons with another solver by one and the same judge. mean: score, 0 to 10. passed: share of tests,
    0 to 1. cycles: in which it stood; votes: that its solutions got; unrated: cycles in which it has no score.
    """

    name: str
    label: str
    is_simulated: bool
    compatible: float
    change: float | None
    reverse: float
    elo: float | None
    elo_change: float | None
    rating: float | None
    lower: float | None
    upper: float | None
    reason: str
    component: int
    rank: int | None
    best: int | None
    worst: int | None
    group: int | None
    first: float | None
    battles: int
    wins: int
    ties: int
    losses: int
    mean: Figure
    passed: Figure
    cycles: int
    votes: int
    unrated: int

    @property
    def shown(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class SetterRow:
    """problems: that were set and rated; void: how often it set nothing that could be played.

    calibration: how near its problems came to the middle of the scale, 0 to 1; by_others: without its own votes.
    overall: mean score of its problems, 0 to 10. passed: share of the tests that the other solvers passed.
    """

    name: str
    label: str
    problems: int
    scored: int
    void: int
    calibration: Figure
    by_others: Figure
    overall: Figure
    passed: Figure

    @property
    def shown(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """votes: valid ones; missing: judgments that it did not give, or that could not be read. mean, spread: of votes.

    severity: points less than the other judges gave to the same solutions. consensus, consensus_ranks: correlation
    with the others' mean; passed: with the share of tests that the sandbox saw pass.
    """

    name: str
    label: str
    votes: int
    missing: int
    cycles: int
    mean: Figure
    spread: Figure
    severity: Figure
    consensus: Figure
    consensus_ranks: Figure
    passed: Figure

    @property
    def shown(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class Moment:
    """A cycle, and the boards after it; by slug, of everybody who stood in a cycle so far.

    number: from 1 among the cycles that were rated together; turn: within its run. means: scores of those rated in it,
    0 to 10. overall, calibration: of its problem, None when nobody is rated. changes, elo_changes: by this cycle.
    """

    number: int
    pk: int
    run: UUID
    turn: int
    ended: datetime | None
    setter: str
    means: Mapping[str, float]
    overall: float | None
    calibration: float | None
    compatible: Mapping[str, float]
    changes: Mapping[str, float]
    elo: Mapping[str, float]
    elo_changes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RunRatings:
    """What the cycles of a run, or of all runs, say. solvers: by the compatible board, the highest first.

    alpha: the judges' agreement, Krippendorff's at the interval level. tests: correlation of the mean vote on a
    solution with its share of tests passed. order_moves: the most that reversing the order of contestants moves a
    compatible rating, in points. cycles: how many count; votes, solutions: valid votes, and solutions with one.
    battles: comparisons of two solutions by one judge; components: groups of models that no battle links.
    """

    solvers: tuple[Solver, ...]
    setters: tuple[SetterRow, ...]
    judges: tuple[JudgeRow, ...]
    history: tuple[Moment, ...]
    alpha: Figure
    tests: Figure
    order_moves: float
    cycles: int
    votes: int
    solutions: int
    battles: int
    ties: int
    components: int

    @property
    def is_simulated(self) -> bool:
        return any(solver.is_simulated for solver in self.solvers)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunRatings":
        """What `dataclasses.asdict` gave, written and read as JSON; without the history, which is not kept."""
        rows = {"solvers": Solver, "setters": SetterRow, "judges": JudgeRow}
        found = {name: tuple(_row(kind, row) for row in data[name]) for name, kind in rows.items()}
        figures = {name: Figure(**data[name]) for name in ("alpha", "tests")}
        return cls(**{**data, **found, **figures, "history": ()})


def _row(kind: Any, row: Mapping[str, Any]) -> Any:
    return kind(**{name: Figure(**value) if isinstance(value, dict) else value for name, value in row.items()})
