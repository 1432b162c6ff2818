"""What came of the runs of a study: the value of each outcome, or the reason why there is none."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Max

from experiments.models import Annotation, Call, Judgment, Message, Run, Study
from experiments.models.instruments import AnnotationQuerySet
from experiments.runs.metrics import by_beginning
from experiments.studies.plan import Annotation as OfInstrument
from experiments.studies.plan import Flagged, Measured, Plan, Scored
from leaderboard.ratings.studies.analysis import Row

if TYPE_CHECKING:
    from accounts.models import User

NOT_BEGUN, NOT_ENDED, DELETED = "not_begun", "not_ended", "deleted"  # beside the states of runs
NOTHING_MEASURED, PARTLY_MEASURED = "nothing_measured", "partly_measured"
Series = Mapping[UUID, Mapping[int, float | None]]
"""By run and turn; None where a turn was to be measured and was not."""


def rows_of(study: Study, plan: Plan, *, reader: "User") -> list[Row]:
    """A row per planned run, in their order. Values are those of completed runs; of a run that was stopped, a time is
    censored at its last turn, and all else is missing. reader: in whose name annotations are read.
    """
    planned = list(study.planned_runs.select_related("condition").order_by("number"))
    runs = {run.pk: run for run in Run.objects.filter(planned__study=study).with_totals()}
    read = [(outcome, reader_of(outcome.source, list(runs.values()), reader)) for outcome in plan.outcomes]
    rows = []
    for one in planned:
        run = runs.get(one.run_id) if one.run_id else None
        reason = _why_missing(run, is_begun=one.run_id is not None)
        values: dict[str, float | None] = {}
        happened, missing = {}, {}
        for outcome, value_of in read:
            value, known, why = value_of(run) if run and not reason else (None, False, reason)
            if run and reason == Run.State.STOPPED and outcome.kind == "time":
                value, known, why = value_of(run)
            values[outcome.name] = value
            if value is None:
                missing[outcome.name] = why
            elif outcome.kind == "time":
                happened[outcome.name] = known
        rows.append(Row(str(one.run_id or f"planned-{one.number}"), one.condition.levels, values, happened, missing))
    return rows


def _why_missing(run: Run | None, *, is_begun: bool) -> str:
    if run is None:
        return DELETED if is_begun else NOT_BEGUN
    if not run.is_over:
        return NOT_ENDED
    return "" if run.state == Run.State.COMPLETED else str(run.state)


Value = tuple[float | None, bool, str]
"""The value, of a time whether it happened, and why there is no value."""


def reader_of(
    source: Scored | OfInstrument | Flagged | Measured, runs: Sequence[Any], reader: "User"
) -> Callable[[Any], Value]:
    """Gives the value of each of these runs, which were fetched `with_totals`."""
    ids = [run.pk for run in runs]
    if isinstance(source, Measured):
        return _figures(source, ids)
    series = _series(source, ids, reader)
    return lambda run: combined(series.get(run.pk, {}), source.over, source.threshold)


def combined(turns: Mapping[int, float | None], over: str, threshold: float) -> Value:
    """One value of the turns of a run. Of turns that were not measured nothing is assumed: what they could change is
    missing, and a time is censored at the last turn that was measured.
    """
    known = [(turn, value) for turn, value in sorted(turns.items()) if value is not None]
    if not known:
        return None, False, NOTHING_MEASURED
    values = [value for _turn, value in known]
    if over == "first_turn":
        first = next((turn for turn, value in known if value > threshold), None)
        return float(known[-1][0] if first is None else first), first is not None, ""
    is_whole = len(known) == len(turns)
    if over == "any":
        if max(values) > threshold:
            return 1.0, False, ""
        return (0.0, False, "") if is_whole else (None, False, PARTLY_MEASURED)
    if over == "last":
        last = turns[max(turns)]
        return (None, False, PARTLY_MEASURED) if last is None else (last, False, "")
    return (max(values) if over == "most" else fmean(values)), False, ""


def _series(source: Scored | OfInstrument | Flagged, ids: Collection[UUID], reader: "User") -> Series:
    found: dict[UUID, dict[int, float | None]] = defaultdict(dict)
    if isinstance(source, Scored):
        judged = by_beginning(Judgment.objects.filter(run__in=ids, subject=source.seat))
        for run, turn, scores in judged.values_list("run_id", "turn", "scores"):
            score = (scores or {}).get(source.score)
            found[run][turn] = None if score is None else float(score)
    elif isinstance(source, Flagged):
        said = Message.objects.filter(run__in=ids, seat=source.seat, superseded=False)
        for run, turn, flags in said.values_list("run_id", "turn", "flags"):
            found[run][turn] = max(found[run].get(turn) or 0.0, float(source.flag in flags))
    else:
        rows = annotations_of(source, ids, reader).filter(dimension=source.dimension)
        several: dict[tuple[UUID, int], list[float | None]] = defaultdict(list)
        for run, of_turn, value in rows.values_list("run_id", "turn", "value"):
            several[run, of_turn or 0].append(number_of(value, source.category))
        for (run, turn), values in several.items():
            given = [value for value in values if value is not None]
            found[run][turn] = fmean(given) if given else None
    return found


def annotations_of(source: OfInstrument, runs: Collection[UUID], reader: "User") -> AnnotationQuerySet:
    """What judges found with the version of an instrument, of all its dimensions."""
    of_judges = Annotation.objects.visible_to(reader).newest().filter(person__isnull=True, run__in=runs)
    return of_judges.filter(version=source.version, subject=source.seat)


def number_of(value: Any, category: str) -> float | None:
    if value is None:
        return None
    if category:
        return float(category in value if isinstance(value, list) else category == value)
    return float(len(value)) if isinstance(value, list) else float(value)


def _figures(source: Measured, ids: Collection[UUID]) -> Callable[[Any], Value]:
    slowest: dict[UUID, float | None] = {}
    if source.figure == "slowest_call":
        rows = Call.objects.filter(run__in=ids).order_by().values_list("run_id")
        slowest = dict(rows.annotate(most=Max("seconds")))

    def value_of(run: Any) -> Value:
        is_priced = not run.unpriced_calls
        figures = {
            "output_tokens": run.output_tokens,
            "cost": run.total_cost if is_priced else None,
            "seconds": run.ended and run.started and (run.ended - run.started).total_seconds() - run.waited_seconds,
            "turns": run.turn,
            "slowest_call": slowest.get(run.pk),
        }
        value = figures[source.figure]
        return (None, False, NOTHING_MEASURED) if value is None else (float(value), False, "")

    return value_of
