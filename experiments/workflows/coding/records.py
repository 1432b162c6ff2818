"""What a contest states, beside what every workflow does."""

from typing import Literal

from experiments.workflows.base.events import EventData, JudgmentShown, Number, Part, Seat
from experiments.workflows.base.records import KEPT, Finding, Projection

CYCLE = Projection("coding_cycle")
CYCLE_NAMED = Projection("coding_cycle_named")
CYCLE_VOID = Projection("coding_cycle_void")
CYCLE_RATED = Projection("coding_cycle_rated")
VOTE = Projection("coding_vote")


class ProblemsKnown(Finding):
    """A question: which problems may not be set again is looked up once, when the contest begins."""

    type: Literal["problems_known"] = "problems_known"


class Checked(Part):
    """key: of the step in which the participant was asked; absent where there was none."""

    seat: Seat
    state: str
    error: str
    key: str = ""


class PoolChecked(Finding):
    into = KEPT
    type: Literal["pool_checked"] = "pool_checked"
    turn: int
    checked: list[Checked]
    pool: list[Seat]


class CyclesPlanned(Finding):
    into = KEPT
    type: Literal["cycles_planned"] = "cycles_planned"
    cycles: int
    setters: str
    pool: list[Seat]


class CycleBegun(Finding):
    into = CYCLE
    type: Literal["cycle_begun"] = "cycle_begun"
    turn: int
    setter: Seat
    coders: list[Seat]


class ProblemSet(Finding):
    """fingerprint: of its statement, see `novelty`."""

    into = CYCLE_NAMED
    type: Literal["problem_set"] = "problem_set"
    turn: int
    setter: Seat
    title: str
    fingerprint: list[int]


class CycleVoid(Finding):
    """Nothing in the cycle counts."""

    into = CYCLE_VOID
    type: Literal["cycle_void"] = "cycle_void"
    turn: int
    setter: Seat
    reason: str


class SolutionJudgedData(EventData):
    type: Literal["solution_judged"] = "solution_judged"
    key: str
    turn: int
    judgment: JudgmentShown


class SolutionJudged(Finding):
    """A judge's vote on a solution, 0 to 10 each; scores None for `unscored_reason`."""

    into = VOTE
    tells = SolutionJudgedData
    type: Literal["solution_judged"] = "solution_judged"
    key: str
    turn: int
    subject: Seat
    judge_seat: Seat
    flags: list[str]
    scores: dict[str, Number] | None
    unscored_reason: str
    rationale: str


class CycleRated(Finding):
    """The votes on which ratings rest. votes: by solver, then judge, 0 to 10. means: of solutions with a quorum of
    them; overall: the mean of those. passed: shares of tests, 0 to 1. unrated: why a seat has no mean.
    """

    into = CYCLE_RATED
    type: Literal["cycle_rated"] = "cycle_rated"
    turn: int
    setter: Seat
    coders: list[Seat]
    quorum: int
    votes: dict[Seat, dict[Seat, Number]]
    means: dict[Seat, Number]
    overall: Number | None
    passed: dict[Seat, Number]
    unrated: dict[Seat, str]


class CycleVoided(EventData):
    """A curator has left the cycle out of ratings."""

    type: Literal["cycle_voided"] = "cycle_voided"
    turn: int
    by: str
    reason: str


class CycleRestored(EventData):
    """It counts again."""

    type: Literal["cycle_restored"] = "cycle_restored"
    turn: int
    by: str


RECORDS: tuple[type[Finding], ...] = (
    *(PoolChecked, CyclesPlanned, CycleBegun),
    *(ProblemSet, CycleVoid, SolutionJudged, CycleRated),
)
EVENTS: tuple[type[EventData], ...] = (CycleVoided, CycleRestored)
