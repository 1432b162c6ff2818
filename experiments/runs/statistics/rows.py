"""From the rows of an experiment to its statistics: five queries, however many runs there are."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import F, Sum

from experiments.library.instruments.figures import Figure, figures
from experiments.models import Annotation, Call, Experiment, Judgment, ReviewCorrection, Run
from experiments.models.review import QueueState
from experiments.runs.metrics import by_beginning
from experiments.runs.statistics.summary import (
    SCORES,
    SWITCHES,
    RunFacts,
    Statistics,
    SubjectFacts,
    TurnScores,
    why_left_out,
)
from experiments.workflows import workflow_of
from experiments.workflows.base.steps import Cast

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Scored = Mapping[tuple[UUID, str], dict[int, TurnScores]]


@dataclass(frozen=True, slots=True)
class Corrections:
    """scores: by judgment and measure what people put in the judge's place, the mean where several did."""

    scores: Mapping[UUID, Mapping[str, float]] = field(default_factory=dict)
    people: int = 0

    @property
    def count(self) -> int:
        return sum(map(len, self.scores.values()))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that does not count. reason: the switch it would need, or "live" while it has not ended."""

    run: Run
    reason: str


@dataclass(frozen=True, slots=True)
class Repeats:
    """The runs of an experiment, by seed: those that count, with their statistics, and those that do not, with why.

    statistics: as judged. corrected: the same runs with the scores that people corrected; None where there is none.
    measured: what an instrument found in the runs that count, where their judge is one.
    """

    experiment: Experiment
    switched_on: tuple[str, ...]
    counted: tuple[Run, ...]
    left_out: tuple[LeftOut, ...]
    statistics: Statistics
    corrections: Corrections = field(default_factory=Corrections)
    corrected: Statistics | None = None
    measured: Sequence[Figure] = ()

    @property
    def runs(self) -> int:
        return len(self.counted) + len(self.left_out)


def repeats(experiment: Experiment, switched_on: Iterable[str] = (), *, reader: "User | AnonymousUser") -> Repeats:
    """Of the runs that the reader sees. `switched_on`: which of SWITCHES count too; what is none of them is ignored."""
    switches = tuple(name for name in SWITCHES if name in set(switched_on))
    rows = list(experiment.runs.visible_to(reader).with_totals().order_by("seed", "created"))
    reasons = [(run, why_left_out(run.state, run.origin, switches)) for run in rows]
    counted = tuple(run for run, reason in reasons if not reason)
    subjects, begins = subjects_of(experiment), begins_in(experiment)
    is_counterbalanced = bool(experiment.config.get("counterbalance"))  # who begins alternates from run to run

    def statistics(corrections: Corrections | None = None) -> Statistics:
        return Statistics(facts(counted, subjects, begins, corrections), subjects, is_counterbalanced)

    corrections = corrections_in([run.pk for run in counted])
    return Repeats(
        experiment=experiment,
        switched_on=switches,
        counted=counted,
        left_out=tuple(LeftOut(run, reason) for run, reason in reasons if reason),
        statistics=statistics(),
        corrections=corrections,
        corrected=statistics(corrections) if corrections.count else None,
        measured=_measured(experiment, counted),
    )


def _measured(experiment: Experiment, runs: Sequence[Run]) -> list[Figure]:
    """Of an experiment whose judge is an instrument; of others, scans among them, nothing."""
    chosen = getattr(experiment.parsed_config(), "instrument", None)
    if chosen is None:
        return []
    rows = Annotation.objects.filter(made_in__in=[run.pk for run in runs], run=F("made_in"))
    return figures(chosen.definition, rows)


def facts(
    runs: Sequence[Any], subjects: Sequence[str], begins: Any = None, corrections: Corrections | None = None
) -> tuple[RunFacts, ...]:
    """What is known of runs fetched by `with_totals`. begins: says of a seed which seat speaks first. corrections:
    scores that stand in the place of the judges' own.
    """
    ids = [run.pk for run in runs]
    scored = _scores(ids, subjects, corrections or Corrections())
    calls = Call.objects.filter(run__in=ids, step__seat__in=subjects).order_by()
    totals = calls.values_list("run_id", "step__seat").annotate(total=Sum("output_tokens"))
    tokens: dict[tuple[UUID, str], int | None] = {(run, seat): total for run, seat, total in totals}
    return tuple(
        RunFacts(
            id=run.pk,
            seed=run.seed,
            state=run.state,
            origin=run.origin,
            begins=begins(run.seed) if begins else None,
            turns=run.turn or 0,
            cost=run.total_cost,
            subjects={
                subject: SubjectFacts(tuple(scored[run.pk, subject].values()), tokens.get((run.pk, subject)))
                for subject in subjects
            },
        )
        for run in runs
    )


def subjects_of(experiment: Experiment) -> tuple[str, ...]:
    """The seats that are judged; a judging names those of the run that it judges."""
    return tuple(experiment.config.get("subjects") or workflow_of(experiment.workflow).subjects)


def begins_in(experiment: Experiment) -> Any:
    """A function from a run's seed to the seat that speaks first; None where the workflow knows no such seat."""
    order = getattr(experiment.parsed_config(), "order", None)
    return (lambda seed: order(Cast(seats={}, seed=seed))[0]) if order else None


def _scores(ids: Collection[UUID], subjects: Sequence[str], corrections: Corrections) -> Scored:
    """Of several judgments of one subject in one turn that counts which began last, as on the page of its run."""
    rows = by_beginning(Judgment.objects.filter(run__in=ids, subject__in=subjects))
    scored: Scored = defaultdict(dict)
    for key, run, turn, subject, judged in rows.values_list("id", "run_id", "turn", "subject", "scores"):
        given = {**judged, **corrections.scores.get(key, {})} if isinstance(judged, dict) else {}
        numbers = {name: score for name, score in given.items() if type(score) in (int, float)}  # no bool
        scores = {name: float(numbers[name]) if name in numbers else None for name in SCORES}
        scored[run, subject][turn] = TurnScores(turn, scores)
    return scored


def corrections_in(runs: Collection[UUID]) -> Corrections:
    """Those of answers that count, in queues that are closed: people who still review are not to lean on others."""
    rows = ReviewCorrection.objects.filter(
        judgment__run__in=runs, answer__slot__isnull=False, answer__item__queue__state=QueueState.CLOSED
    )
    said: dict[UUID, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    people = set()
    for judgment, measure, score, author in rows.values_list("judgment_id", "measure", "score", "answer__author_id"):
        said[judgment][measure].append(score)
        people.add(author)
    means = {judgment: {name: fmean(scores) for name, scores in one.items()} for judgment, one in said.items()}
    return Corrections(means, len(people))
