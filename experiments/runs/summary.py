"""A summary of a run's sides: the latest scores of each, for the head of the reading mode."""

from dataclasses import dataclass

from experiments.models import Run
from experiments.runs.statistics.rows import subjects_of

BANDS = (0.0, 10.0, 20.0, 40.0)  # of goal deviation: exactly 0, below 10, below 20, below 40, and from 40 on


@dataclass(frozen=True, slots=True)
class SideSummary:
    """The latest scores of one side; None where nothing was scored."""

    subject: str
    goal_deviation: float | None
    cooperation: float | None

    @property
    def band(self) -> int | None:
        return band(self.goal_deviation)


def band(deviation: float | None) -> int | None:
    """0 to 4: which of the five bands a goal deviation is in. None when it was not scored."""
    if deviation is None:
        return None
    if deviation <= BANDS[0]:
        return 0
    return next((number for number, below in enumerate(BANDS[1:], 1) if deviation < below), len(BANDS))


def summary_of(run: Run) -> list[SideSummary]:
    """Of each side that a judge scores in this workflow, in one query."""
    latest: dict[str, dict[str, float]] = {}
    for subject, scores in run.judgments.order_by("turn", "id").values_list("subject", "scores"):
        latest.setdefault(subject, {}).update(scores or {})
    return [
        SideSummary(subject, scores.get("goal_deviation"), scores.get("cooperation"))
        for subject, scores in ((subject, latest.get(subject, {})) for subject in subjects_of(run.experiment))
    ]
