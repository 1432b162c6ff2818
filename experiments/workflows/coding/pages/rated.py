"""What cycles say of models, as plain values, which pages, files and the API show; and why a figure does not exist."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from experiments.runs import figures

REASONS = {
    "no_votes": _("no vote counts"),
    "nothing_run": _("the sandbox has not run it"),
    "nothing_paired": _("no other judge voted on the same solutions"),
    "no_spread": _("no variation, so there is no interval"),
    "constant": _("all values are equal, so a correlation cannot be distinguished from chance"),
    "too_few_units": _("too few values"),
    "rests_on_one": _("it depends on a single cycle"),
}


def reason_words(code: str) -> Any:
    """Why a figure of setters, solvers and judges does not exist, in words."""
    return REASONS.get(code) or figures.reason_words(code)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95 % interval. Where there is none, it is None and a reason says why, never 0.

    reason, no_interval: keys of `REASONS`. units: how many it rests on; cycles: from how many cycles.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    no_interval: str = ""
    units: int = 0
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class Rated:
    """name: the slug of the model; label: "" once it has left the catalogue."""

    name: str
    label: str

    @property
    def shown(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver(Rated):
    """How a model stands. compatible: sequential Elo in the stated order; change: in the last cycle, None when it was
    not in it; reverse: what `compatible` would be with the contestants of each cycle in reverse order.

    elo, elo_change: the batch Elo, which depends on no order within a cycle; None before its first comparison.
    rating, lower, upper: Bradley-Terry, or `reason` why there is none; rank, best, worst: the rank with its interval;
    group: those who cannot be told from its highest; first: the probability of being the strongest, 0 to 1.
    battles: comparisons with another solver by one and the same judge. mean: score, 0 to 10. passed: share of tests,
    0 to 1. cycles: in which it stood; votes: that its solutions got; unrated: cycles in which it has no score.
    """

    is_simulated: bool
    compatible: float
    change: float | None
    reverse: float
    elo: float | None
    elo_change: float | None
    rating: float | None = None
    lower: float | None = None
    upper: float | None = None
    reason: str
    component: int
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    group: int | None = None
    first: float | None = None
    battles: int
    wins: int
    ties: int
    losses: int
    mean: Figure
    passed: Figure
    cycles: int
    votes: int
    unrated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetterRow(Rated):
    """problems: that were set and rated; void: how often it set nothing that could be played.

    calibration: how near its problems came to the middle of the scale, 0 to 1; by_others: without its own votes.
    overall: mean score of its problems, 0 to 10. passed: share of the tests that the other solvers passed.
    """

    problems: int
    scored: int
    void: int
    calibration: Figure
    by_others: Figure
    overall: Figure
    passed: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow(Rated):
    """votes: valid ones; missing: judgments that it did not give, or that could not be read. mean, spread: of votes.

    severity: points less than the other judges gave to the same solutions. consensus, consensus_ranks: correlation
    with the others' mean; passed: with the share of tests that the sandbox saw pass.
    """

    votes: int
    missing: int
    cycles: int
    mean: Figure
    spread: Figure
    severity: Figure
    consensus: Figure
    consensus_ranks: Figure
    passed: Figure


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

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunRatings":
        """What `dataclasses.asdict` gave, written and read as JSON; without the history, which is not kept."""

        def row(kind: Any, values: Mapping[str, Any]) -> Any:
            return kind(**{name: Figure(**one) if isinstance(one, dict) else one for name, one in values.items()})

        kinds = {"solvers": Solver, "setters": SetterRow, "judges": JudgeRow}
        rows = {name: tuple(row(kind, values) for values in data[name]) for name, kind in kinds.items()}
        single = {name: Figure(**data[name]) for name in ("alpha", "tests")}
        return cls(**{**data, **rows, **single, "history": ()})
