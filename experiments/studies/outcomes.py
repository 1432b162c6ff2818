"""What came of the runs of a study: the value of each outcome, or the reason why there is none."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db.models import Count, Max, Q, Sum

from experiments.models import CALLS_UNDER_WAY, Annotation, Ballot, Call, Cycle, Judgment, Message, Run, Step, Study
from experiments.models.instruments import AnnotationQuerySet
from experiments.runs.metrics import by_beginning
from experiments.studies.plan import Annotation as OfInstrument
from experiments.studies.plan import AnySource, Confidence, Flagged, Measured, Plan, Ranked, Said, Scored
from leaderboard.ratings.studies.analysis import Row
from leaderboard.ratings.studies.diversity import DIGITS, fingerprints
from leaderboard.ratings.values import FloatArray

if TYPE_CHECKING:
    from accounts.models import User

NOT_BEGUN, NOT_ENDED, DELETED = "not_begun", "not_ended", "deleted"  # beside the states of runs
NOTHING_MEASURED, PARTLY_MEASURED = "nothing_measured", "partly_measured"
NO_LOGPROBS, SEVERAL_PROVIDERS = "no_logprobs", "several_providers"
UNSURE, QUANTILES = 0.5, {"median": 0.5, "tenth": 0.1}  # of the probabilities of tokens
CALLS_AT_ONCE = 20  # log-probabilities of a call are read together: up to a megabyte
Series = Mapping[UUID, Mapping[int, float | None]]
"""By run and turn; None where a turn was to be measured and was not."""


class Value(NamedTuple):
    """value: of a run, None with the reason in `missing`. happened: of a time, whether it did. detail, covered: as of
    `leaderboard.ratings.studies.analysis.Row`.
    """

    value: float | None
    happened: bool = False
    missing: str = ""
    detail: str = ""
    covered: float | None = None


def rows_of(study: Study, plan: Plan, *, reader: "User") -> list[Row]:
    """A row per planned run, in their order. Values are those of completed runs; of a run that was stopped, a time is
    censored at its last turn, and all else is missing. reader: in whose name annotations are read.
    """
    planned = list(study.planned_runs.select_related("condition").order_by("number"))
    runs = {run.pk: run for run in Run.objects.filter(planned__study=study)}
    readers = {one.name: reader_of(one.source, list(runs.values()), reader) for one in plan.outcomes}
    times = {one.name for one in plan.outcomes if one.kind == "time"}
    rows = []
    for one in planned:
        run = runs.get(one.run_id) if one.run_id else None
        reason = _why_missing(run, is_begun=one.run_id is not None)
        found = {
            name: value_of(run)
            if run and (not reason or (reason == Run.State.STOPPED and name in times))
            else Value(None, missing=reason)
            for name, value_of in readers.items()
        }
        known = {name: value for name, value in found.items() if value.value is not None}
        rows.append(
            Row(
                run=str(one.run_id or f"planned-{one.number}"),
                levels=one.condition.levels,
                values={name: value.value for name, value in found.items()},
                happened={name: value.happened for name, value in known.items() if name in times},
                missing={name: value.missing for name, value in found.items() if name not in known},
                details={name: value.detail for name, value in known.items() if value.detail},
                covered={name: value.covered for name, value in known.items() if value.covered is not None},
            )
        )
    return rows


def _why_missing(run: Run | None, *, is_begun: bool) -> str:
    if run is None:
        return DELETED if is_begun else NOT_BEGUN
    if not run.is_over:
        return NOT_ENDED
    return "" if run.state == Run.State.COMPLETED else str(run.state)


def reader_of(source: AnySource, runs: Sequence[Any], reader: "User") -> Callable[[Any], Value]:
    """Gives the value of each of these runs."""
    ids = [run.pk for run in runs]
    if isinstance(source, Measured):
        return _figures(source, ids)
    if isinstance(source, Said | Confidence):
        found = _answers(source, ids) if isinstance(source, Said) else _confidences(source, ids)
        return lambda run: found.get(run.pk, Value(None, missing=NOTHING_MEASURED))
    series = _ranks(source.seat, ids) if isinstance(source, Ranked) else _series(source, ids, reader)
    return lambda run: combined(series.get(run.pk, {}), source.over, source.threshold)


def combined(turns: Mapping[int, float | None], over: str, threshold: float) -> Value:
    """One value of the turns of a run. Of turns that were not measured nothing is assumed: what they could change is
    missing, and a time is censored at the last turn that was measured.
    """
    known = [(turn, value) for turn, value in sorted(turns.items()) if value is not None]
    if not known:
        return Value(None, missing=NOTHING_MEASURED)
    values = [value for _turn, value in known]
    if over == "first_turn":
        first = next((turn for turn, value in known if value > threshold), None)
        return Value(float(known[-1][0] if first is None else first), happened=first is not None)
    is_whole = len(known) == len(turns)
    if over == "any":
        if max(values) > threshold:
            return Value(1.0)
        return Value(0.0) if is_whole else Value(None, missing=PARTLY_MEASURED)
    if over == "last":
        last = turns[max(turns)]
        return Value(None, missing=PARTLY_MEASURED) if last is None else Value(last)
    return Value(max(values) if over == "most" else fmean(values))


def _answers(source: Said, ids: Collection[UUID]) -> dict[UUID, Value]:
    """How many different pairs of words a participant said in each run, and which."""
    texts: dict[UUID, list[str]] = defaultdict(list)
    said = Message.objects.filter(run__in=ids, seat=source.seat, superseded=False).order_by("run", "seq")
    for run, text in said.values_list("run_id", "text").iterator():
        texts[run].append(text)
    found = {
        run: fingerprints("\n".join(several[-1:] if source.messages == "last" else several))
        for run, several in texts.items()
    }
    return {run: Value(float(len(one) // DIGITS), detail=one) for run, one in found.items() if one}


def _confidences(source: Confidence, ids: Collection[UUID]) -> dict[UUID, Value]:
    """A figure of the tokens of each run in which every message has log-probabilities, all from one provider."""
    said = Message.objects.filter(run__in=ids, seat=source.seat, superseded=False, call__isnull=False).order_by("run")
    rows = said.values_list("run_id", "call__logprobs", "call__model__provider__name", "call__served_provider")
    found = {}
    for run, calls in groupby(rows.iterator(CALLS_AT_ONCE), key=itemgetter(0)):
        probabilities: list[float] = []
        masses: list[float] = []
        providers, lacking, messages = set(), 0, 0
        for _run, tokens, *names in calls:
            chosen = [token for token in tokens or () if token["logprob"] is not None]
            own = np.exp(np.minimum(0.0, [token["logprob"] for token in chosen]))
            probabilities += own.tolist()
            masses += _masses(chosen, own)
            providers.add(" / ".join(filter(None, names)).lstrip("=+-@ "))
            lacking, messages = lacking + (not chosen), messages + 1
        if lacking or len(providers) > 1:
            reason = NO_LOGPROBS if lacking == messages else PARTLY_MEASURED if lacking else SEVERAL_PROVIDERS
            found[run] = Value(None, missing=reason)
        else:
            covered = fmean(masses) if masses else None
            found[run] = Value(_figure(source.figure, probabilities), detail=providers.pop(), covered=covered)
    return found


def _masses(tokens: Sequence[Mapping[str, Any]], own: FloatArray) -> list[float]:
    """How much probability each token that was recorded with alternatives, among which it may be, has with them."""
    others = [
        [
            one["logprob"]
            for one in token["alternatives"]
            if one["token"] != token["token"] and one["logprob"] is not None
        ]
        for token in tokens
    ]
    owners = np.repeat(np.arange(len(tokens)), [len(several) for several in others])
    beside = np.bincount(owners, np.exp(np.minimum(0.0, [*chain(*others)])), minlength=len(tokens))
    is_known = np.array([bool(token["alternatives"]) for token in tokens], dtype=bool)
    covered: list[float] = np.minimum(1.0, own + beside)[is_known].tolist()
    return covered


def _figure(name: str, probabilities: Sequence[float]) -> float:
    """Quantiles are interpolated (type 7 of Hyndman & Fan, The American Statistician 50, 1996)."""
    if name == "low":
        return fmean(one < UNSURE for one in probabilities)
    return fmean(probabilities) if name == "mean" else float(np.quantile(probabilities, QUANTILES[name]))


def _ranks(seat: str, ids: Collection[UUID]) -> Series:
    """The win rate of a participant by run and turn: None for a turn in which it took part and nothing compared it."""
    shares: dict[UUID, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    ballots = Ballot.objects.filter(run__in=ids, superseded=False)
    for run, turn, labels, order in ballots.values_list("run_id", "turn", "labels", "order"):
        offered = set(labels.values())
        if seat in offered:
            places = {one: place for place, group in enumerate(order or ()) for one in group}
            shares[run][turn] += _beaten({one: -places.get(one, len(places)) for one in offered}, seat) if order else []
    cycles = Cycle.objects.filter(run__in=ids, state=Cycle.State.RATED, voided__isnull=True)
    for run, turn, found in cycles.values_list("run_id", "turn", "found"):
        if seat in found.get("coders", ()):
            shares[run][turn] += _beaten(found["means"], seat)
    return {
        run: {turn: fmean(several) if several else None for turn, several in turns.items()}
        for run, turns in shares.items()
    }


def _beaten(points: Mapping[str, float], seat: str) -> list[float]:
    """The share of the others with fewer points, equals counting half; nothing where there is nobody to compare."""
    others = [value for one, value in points.items() if one != seat]
    if seat not in points or not others:
        return []
    return [fmean((points[seat] > value) + (points[seat] == value) / 2 for value in others)]


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


def _figures(source: Measured, ids: Collection[UUID]) -> Callable[[Run], Value]:
    if source.figure == "seconds":
        return lambda run: _measured(
            (run.ended - run.started).total_seconds() - run.waited_seconds if run.ended and run.started else None
        )
    calls = Call.objects.filter(run__in=ids).order_by().values_list("run_id")
    turns = Step.objects.filter(run__in=ids, purpose="turn_completed").order_by().values_list("run_id")
    unpriced = Count("pk", filter=Q(cost__isnull=True) & ~Q(state__in=CALLS_UNDER_WAY))
    figures: Mapping[str, Any] = {
        "output_tokens": calls.annotate(of_run=Sum("output_tokens")),
        "cost": calls.annotate(of_run=Sum("cost"), unpriced=unpriced)
        .filter(unpriced=0)
        .values_list("run_id", "of_run"),
        "turns": turns.annotate(of_run=Max("turn")),
        # A call in a batch has no duration, so nobody knows which was the slowest.
        "slowest_call": calls.annotate(of_run=Max("seconds"), in_batches=Count("batched"))
        .filter(in_batches=0)
        .values_list("run_id", "of_run"),
    }
    found = dict(figures[source.figure])
    return lambda run: _measured(found.get(run.pk))


def _measured(value: Any) -> Value:
    return Value(None, missing=NOTHING_MEASURED) if value is None else Value(float(value))
