"""The runs of an experiment together: what is known of each subject, of their difference, and of who begins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from experiments.runs.statistics.estimates import Contrast, Estimate, Share, contrast, estimate, paired, share
from experiments.runs.statistics.values import MEASURES, RunFacts, SubjectValues, values_of

Measures = Mapping[str, Estimate]


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
        return {subject: self._summary(subject) for subject in self.subjects}

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
        return max((t.turn for run in self.runs for facts in run.subjects.values() for t in facts.turns), default=0)

    @cached_property
    def is_scored(self) -> bool:
        """Whether a judge gave any score at all."""
        turns = (t for run in self.runs for facts in run.subjects.values() for t in facts.turns)
        return any(value is not None for turn in turns for value in turn.scores.values())

    def measured(self, subject: str, measure: str) -> list[float | None]:
        """One value per run."""
        return [values.measures[measure] for values in self.values[subject]]

    def _summary(self, subject: str) -> SubjectSummary:
        values = self.values[subject]
        return SubjectSummary(
            measures={name: estimate(self.measured(subject, name)) for name in MEASURES},
            deviated=share(one.deviated for one in values),
            deviated_in=estimate(one.deviated_in for one in values if one.deviated),
            turns=tuple(self._turn(subject, turn) for turn in range(1, self.longest + 1)),
        )

    def _turn(self, subject: str, turn: int) -> TurnSummary:
        scores = [t.scores for run in self.runs for t in run.of(subject).turns if t.turn == turn]
        return TurnSummary(
            turn,
            estimate(given.get("goal_deviation") for given in scores),
            estimate(given.get("cooperation") for given in scores),
        )

    def _of_beginning(self, subject: str, measure: str) -> Contrast:
        pairs: Sequence[tuple[RunFacts, float | None]] = list(
            zip(self.runs, self.measured(subject, measure), strict=True)
        )
        return contrast(
            (value for run, value in pairs if run.begins == subject),
            (value for run, value in pairs if run.begins != subject),
        )
