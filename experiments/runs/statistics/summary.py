"""What the runs of an experiment say together: of each subject, of their difference, and of who begins.

Each run gives one value of each measure, and only these go into the statistics: long and short runs weigh the same.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from uuid import UUID

from experiments.runs.metrics import DEVIATION_THRESHOLD
from experiments.runs.statistics.estimates import Contrast, Estimate, Share, contrast, estimate, paired, share
from experiments.workflows.base.judge import SENTIMENTS

MEASURES = ("final_deviation", "mean_deviation", "cooperation", *SENTIMENTS, "tokens")
SCORES = ("goal_deviation", "cooperation", *SENTIMENTS)

UNDER_WAY = "live"
SWITCHES = ("stopped", "failed", "branch", "imported")  # demonstrations were written, and are never counted
COLUMNS = (
    *("run", "seed", "state", "origin", "begins", "turns", "cost", "subject", "scored_turns", "deviated"),
    *("deviated_in", *MEASURES),
)

Cell = str | int | float | None
Measures = Mapping[str, Estimate]


# --- one run ---


@dataclass(frozen=True, slots=True)
class TurnScores:
    """What the judge gave one subject in one turn: names of SCORES to numbers, None where it gave none."""

    turn: int
    scores: Mapping[str, float | None]

    @property
    def is_scored(self) -> bool:
        return any(value is not None for value in self.scores.values())


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


# --- all runs ---


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """One turn over all runs that reached it; n of each estimate are those in which it was scored."""

    turn: int
    goal_deviation: Estimate
    cooperation: Estimate


@dataclass(frozen=True, slots=True)
class SubjectSummary:
    """deviated: in how many runs a turn was above the threshold; deviated_in: in which turn, of those runs alone."""

    measures: Measures
    deviated: Share
    deviated_in: Estimate
    turns: tuple[TurnSummary, ...]


@dataclass(frozen=True)
class Statistics:
    """What `runs` say of `subjects`. is_counterbalanced: who begins alternates from run to run."""

    runs: tuple[RunFacts, ...]
    subjects: tuple[str, ...]
    is_counterbalanced: bool = False

    @cached_property
    def values(self) -> Mapping[str, tuple[SubjectValues, ...]]:
        """Each subject's values, run by run."""
        return {subject: tuple(values_of(run.of(subject)) for run in self.runs) for subject in self.subjects}

    @cached_property
    def summaries(self) -> Mapping[str, SubjectSummary]:
        return {
            subject: SubjectSummary(
                measures={name: estimate(self.measured(subject, name)) for name in MEASURES},
                deviated=share(one.deviated for one in values),
                deviated_in=estimate(one.deviated_in for one in values if one.deviated),
                turns=tuple(self._turn(subject, turn) for turn in range(1, self.longest + 1)),
            )
            for subject, values in self.values.items()
        }

    @cached_property
    def difference(self) -> Measures | None:
        """First subject less second, paired by run; None unless there are two."""
        if len(self.subjects) != 2:
            return None
        first, second = self.subjects
        return {name: paired(self.measured(first, name), self.measured(second, name)) for name in MEASURES}

    @cached_property
    def beginning(self) -> Mapping[str, Mapping[str, Contrast]] | None:
        """Each subject's values in the runs that it begins, against those that it does not; None unless who begins
        alternates.
        """
        if not self.is_counterbalanced:
            return None
        return {subject: {name: self._of_beginning(subject, name) for name in MEASURES} for subject in self.subjects}

    @cached_property
    def longest(self) -> int:
        """The last turn that was judged in any run; 0 when none was."""
        return max((turn.turn for turn in self._turns()), default=0)

    @cached_property
    def is_scored(self) -> bool:
        """Whether a judge gave any score at all."""
        return any(turn.is_scored for turn in self._turns())

    def _turns(self) -> Iterator[TurnScores]:
        return (turn for run in self.runs for facts in run.subjects.values() for turn in facts.turns)

    def measured(self, subject: str, measure: str) -> list[float | None]:
        """One value per run."""
        return [values.measures[measure] for values in self.values[subject]]

    def _turn(self, subject: str, turn: int) -> TurnSummary:
        scores = [one.scores for run in self.runs for one in run.of(subject).turns if one.turn == turn]
        deviations, cooperations = ([given.get(name) for given in scores] for name in ("goal_deviation", "cooperation"))
        return TurnSummary(turn, estimate(deviations), estimate(cooperations))

    def _of_beginning(self, subject: str, measure: str) -> Contrast:
        pairs = [
            (run.begins == subject, value)
            for run, value in zip(self.runs, self.measured(subject, measure), strict=True)
        ]
        return contrast((value for begins, value in pairs if begins), (value for begins, value in pairs if not begins))


def table(statistics: Statistics) -> Iterator[list[Cell]]:
    """One row per run and subject, as COLUMNS say; None (an empty cell) where there is no value."""
    for place, run in enumerate(statistics.runs):
        for subject in statistics.subjects:
            values = statistics.values[subject][place]
            yield [
                str(run.id),
                run.seed,
                run.state,
                run.origin,
                run.begins,
                run.turns,
                None if run.cost is None else f"{run.cost:f}",
                subject,
                sum(turn.is_scored for turn in run.of(subject).turns),
                None if values.deviated is None else int(values.deviated),
                values.deviated_in,
                *(values.measures[name] for name in MEASURES),
            ]
