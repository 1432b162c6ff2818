"""What contests of coding leave in a document: problems, solutions, cycles and what the sandbox ran.

What is known of each has to have its form, because pages, reports and ratings rest on it; other names are kept.
"""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, Strict, StringConstraints, model_validator

from experiments.models.coding import CycleState, ExecutionState
from experiments.runs.reports.shape_types import (
    Count,
    Kept,
    Key,
    Line,
    LongText,
    Moment,
    Number,
    RowShape,
    Seat,
    Seconds,
    Shape,
    Share,
    Slug,
    Truth,
    Word,
)
from leaderboard.ratings.cycles import Cycle, Vote

MOST_TESTS = 100
Vote10 = Annotated[Number, Field(ge=0, le=10)]
Seats = Annotated[list[Seat], Field(max_length=50)]
Votes = Annotated[dict[Seat, dict[Seat, Vote10]], Field(max_length=50)]
Reason = Annotated[str, StringConstraints(max_length=2_000)]
Title = Annotated[str, StringConstraints(max_length=200)]


class TestShape(Kept):
    name: Word
    arguments: list[Any]
    expected: Any = None


class CheckShape(Kept):
    """passed None: the sandbox could not run it."""

    name: Word
    passed: Count | None = None
    of: Count = 0
    complaint: LongText = ""


class ProblemRead(Kept):
    kind: Literal["problem"]
    title: Title = ""
    description: LongText = ""
    entry: Word = ""
    comparison: Word = "exact"
    shown: Annotated[list[TestShape], Field(max_length=MOST_TESTS)] = []
    hidden: Annotated[list[TestShape], Field(max_length=MOST_TESTS)] = []
    criteria: Annotated[list[LongText], Field(max_length=MOST_TESTS)] = []
    reference: LongText = ""
    checks: Annotated[list[CheckShape], Field(max_length=MOST_TESTS)] = []
    wrong: Annotated[list[LongText], Field(max_length=MOST_TESTS)] = []


class SolutionRead(Kept):
    kind: Literal["solution"]
    code: LongText = ""
    explanation: LongText = ""


class SeatedShape(Shape):
    seat: Seat
    model: Slug


class CycleShape(Shape):
    """By seat: votes (solver, then judge), means, passed, unrated. Its votes have to be such as can be rated."""

    turn: Count
    setter: Seat
    state: CycleState = CycleState.RATED
    reason: Reason = ""
    title: Title = ""
    contestants: Annotated[list[SeatedShape], Field(max_length=50)] = []
    quorum: Annotated[Count, Field(ge=1)] | None = None
    votes: Votes = {}
    means: dict[Seat, Vote10] = {}
    overall: Vote10 | None = None
    passed: dict[Seat, Share] = {}
    unrated: dict[Seat, Reason] = {}
    void_reason: Annotated[str, StringConstraints(max_length=300)] = ""
    voided: Moment | None = None
    began: Moment | None = None
    ended: Moment | None = None

    @model_validator(mode="after")
    def its_votes_can_be_rated(self) -> Self:
        if self.state == CycleState.RATED:
            given = [Vote(s, j, vote) for s, votes in self.votes.items() for j, vote in votes.items()]
            Cycle(tuple(one.seat for one in self.contestants), self.setter, tuple(given), self.passed)
        if len({one.model for one in self.contestants}) != len(self.contestants):
            raise ValueError("Each model has one seat.")
        if strangers := (set(self.means) | set(self.unrated)) - {one.seat for one in self.contestants}:
            raise ValueError(f"{min(strangers)} does not take part.")
        return self

    @property
    def found(self) -> dict[str, object]:
        """As `cycle_rated` says it; nothing of a cycle that is not rated."""
        if self.state != CycleState.RATED:
            return {}
        said = self.model_dump(include={"turn", "setter", "votes", "means", "overall", "passed", "unrated"})
        return {**said, "quorum": self.quorum or 1, "coders": [one.seat for one in self.contestants]}


class ResultShape(Kept):
    name: Word
    verdict: Literal["passed", "failed", "error", "timeout", "memory", "output_limit", "not_run"]
    value: Any = None
    has_value: Truth = False
    error: LongText = ""
    stdout: LongText = ""
    stderr: LongText = ""
    seconds: Seconds | None = None
    peak_memory: Count | None = None


class ExecutionShape(RowShape):
    """key: of its step. What was under way is cancelled: what is imported is never run."""

    key: Key
    turn: Count = 0
    seat: Seat
    state: ExecutionState = ExecutionState.DONE
    language: Annotated[str, StringConstraints(max_length=20)] = "python"
    code: LongText
    entry: Annotated[str, StringConstraints(max_length=80)] = ""
    comparison: Annotated[str, StringConstraints(max_length=12)] = "exact"
    tests: Annotated[list[TestShape], Field(max_length=MOST_TESTS)] = []
    seconds_limit: Seconds = 5
    memory_limit: Annotated[int, Strict(), Field(ge=0, le=2**53)] = 0
    results: Annotated[list[ResultShape], Field(max_length=MOST_TESTS)] | None = None
    complaint: LongText = ""
    backend: Annotated[str, StringConstraints(max_length=20)] = ""
    layers: Annotated[list[Line], Field(max_length=50)] = []
    is_unsafe: Truth = False
    seconds: Seconds | None = None
    error_kind: Word = ""
    error: LongText = ""
    created: Moment | None = None
    ended: Moment | None = None

    @model_validator(mode="after")
    def what_was_run_has_results(self) -> Self:
        if self.state == ExecutionState.DONE and self.results is None:
            raise ValueError("What was run has results.")
        return self


class Checked(Kept):
    seat: Seat
    state: Word
    error: LongText = ""
    key: Key | None = None


class PoolChecked(Kept):
    turn: Count = 0
    checked: Annotated[list[Checked], Field(max_length=50)] = []
    pool: Seats = []


class Planned(Kept):
    cycles: Count
    setters: Word
    pool: Seats


class OfCycle(Kept):
    turn: Count
    setter: Seat


class Begun(OfCycle):
    coders: Seats


class ProblemSet(OfCycle):
    title: Title


class Void(OfCycle):
    reason: Reason


class Rated(OfCycle):
    coders: Seats
    quorum: Count
    votes: Votes
    means: dict[Seat, Vote10]
    overall: Vote10 | None
    passed: dict[Seat, Share]
    unrated: dict[Seat, Reason]


class JudgmentTold(Kept):
    id: UUID | Literal[""] = ""
    subject: Seat
    judge_seat: Seat
    judge: Line = ""
    scores: dict[Word, Vote10] | None = None
    unscored_reason: LongText = ""
    rationale: LongText = ""
    flags: Annotated[list[Word], Field(max_length=20)] = []


class Judged(Kept):
    key: Key
    turn: Count
    judgment: JudgmentTold


FINDINGS: dict[str, type[Kept]] = {
    "pool_checked": PoolChecked,
    "cycles_planned": Planned,
    "cycle_begun": Begun,
    "problem_set": ProblemSet,
    "cycle_void": Void,
    "solution_judged": Judged,
    "cycle_rated": Rated,
}
PARSED: dict[str, type[Kept]] = {"problem": ProblemRead, "solution": SolutionRead}
