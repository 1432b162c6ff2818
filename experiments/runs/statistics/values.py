"""What one run says: its scores by turn, and the one value of each measure that goes into the statistics."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from experiments.runs.metrics import DEVIATION_THRESHOLD
from experiments.runs.statistics.estimates import estimate
from experiments.workflows.base.judge import SENTIMENTS

MEASURES = ("final_deviation", "mean_deviation", "cooperation", *SENTIMENTS, "tokens")
SCORES = ("goal_deviation", "cooperation", *SENTIMENTS)

UNDER_WAY = "live"
SWITCHES = ("stopped", "failed", "branch", "imported")  # demonstrations were written, and are never counted


@dataclass(frozen=True, slots=True)
class TurnScores:
    """What the judge gave one subject in one turn: names of SCORES to numbers, None where it gave none."""

    turn: int
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SubjectFacts:
    """The judged turns of one subject in order, and the tokens it wrote (None: unknown)."""

    turns: Sequence[TurnScores] = ()
    tokens: int | None = None

    def series(self, score: str) -> list[float | None]:
        return [turn.scores.get(score) for turn in self.turns]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run. state and origin as in `Run`; begins: the seat that speaks first, None where no seat does."""

    id: UUID
    seed: int
    state: str
    origin: str
    begins: str | None
    turns: int
    cost: Decimal | None
    subjects: Mapping[str, SubjectFacts]

    def of(self, subject: str) -> SubjectFacts:
        return self.subjects.get(subject, SubjectFacts())


@dataclass(frozen=True, slots=True)
class SubjectValues:
    """One run's value of each of MEASURES, None where there is none.

    deviated: whether a scored turn was above the threshold, None when no turn was scored. deviated_in: the first such
    turn, None as well when there was none: it is no number, and never enters a mean.
    """

    measures: Mapping[str, float | None]
    deviated: bool | None
    deviated_in: int | None


def values_of(subject: SubjectFacts) -> SubjectValues:
    """final_deviation: the deviation in the last judged turn, missing when that turn was not scored; mean_deviation,
    cooperation and sentiments: the mean over the scored turns of the run, so that a long run weighs as much as a short
    one; tokens: what the subject wrote.
    """
    deviations = subject.series("goal_deviation")
    first = next((t.turn for t in subject.turns if (t.scores.get("goal_deviation") or 0) > DEVIATION_THRESHOLD), None)
    measures = {
        "final_deviation": deviations[-1] if deviations else None,
        "mean_deviation": estimate(deviations).mean,
        **{name: estimate(subject.series(name)).mean for name in ("cooperation", *SENTIMENTS)},
        "tokens": subject.tokens,
    }
    is_known = any(value is not None for value in deviations)
    return SubjectValues(measures, first is not None if is_known else None, first)


def why_left_out(state: str, origin: str, switched_on: Collection[str]) -> str:
    """The switch that a run would need to count (of SWITCHES), UNDER_WAY for one that has not ended, "" if it counts.

    Only runs that were played here to their planned end count by themselves.
    """
    if origin != "live" and origin not in switched_on:
        return origin
    if state == "completed" or (state in ("stopped", "failed") and state in switched_on):
        return ""
    return state if state in SWITCHES else UNDER_WAY
