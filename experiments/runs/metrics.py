"""Numbers computed from judgments and calls, never stored."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Replace

from experiments.models import Judgment, Run, Step
from experiments.workflows.base.events import JsonObject, JudgedTurn, SeatMetrics
from experiments.workflows.base.judge import SENTIMENTS

DEVIATION_THRESHOLD = 20.0


def seat_metrics(judgments: Iterable[Judgment], tokens: int | None) -> SeatMetrics:
    """Metrics of one seat from its judgments in turn order; where a turn was judged twice, the later one counts.

    goal_deviation 0-100 and cooperation -1 to 1 are the latest that a judge gave; turns_to_deviate is the first turn
    whose deviation is above 20; sentiment has one entry per scored turn. Null where nothing was scored.
    """
    series = list({judgment.turn: _point(judgment) for judgment in judgments}.values())
    deviations = [(point.turn, point.goal_deviation) for point in series if point.goal_deviation is not None]
    cooperation = [point.cooperation for point in series if point.cooperation is not None]
    return SeatMetrics(
        tokens=tokens,
        goal_deviation=deviations[-1][1] if deviations else None,
        turns_to_deviate=next((turn for turn, value in deviations if value > DEVIATION_THRESHOLD), None),
        cooperation=cooperation[-1] if cooperation else None,
        turns=series,
    )


def _point(judgment: Judgment) -> JudgedTurn:
    """One turn of a seat's series; a score that was not given is None, so that charts show a gap."""
    scores = judgment.scores or {}
    return JudgedTurn(
        turn=judgment.turn,
        goal_deviation=scores.get("goal_deviation"),
        cooperation=scores.get("cooperation"),
        sentiment={name: scores.get(name) for name in SENTIMENTS},
        unscored_reason=judgment.unscored_reason,
        rationale=judgment.rationale,
        confidence=judgment.confidence,
    )


def run_metrics(
    run: Run, seats: Sequence[str], *, until_judged: bool = False, judgments: Sequence[Judgment] | None = None
) -> dict[str, SeatMetrics]:
    """`seat_metrics` of each seat, from the run's rows. until_judged: only tokens up to the last judged turn count.
    judgments: all of the run, in order, where they are at hand.
    """
    judgments = list(in_order(run)) if judgments is None else judgments
    calls = run.calls.filter(step__seat__in=seats)
    if until_judged:
        calls = calls.filter(step__turn__lte=max((judgment.turn for judgment in judgments), default=0))
    tokens = dict(calls.order_by().values_list("step__seat").annotate(total=Sum("output_tokens")))
    return {seat: seat_metrics((j for j in judgments if j.subject == seat), tokens.get(seat)) for seat in seats}


def shown(of_seats: Mapping[str, SeatMetrics]) -> dict[str, JsonObject]:
    """As the API and documents show them."""
    return {seat: found.model_dump(mode="json") for seat, found in of_seats.items()}


def in_order(run: Run) -> "QuerySet[Judgment]":
    """The judgments by turn, and within a turn by when judging began: an answer that was replaced may be judged after
    the one that replaced it.
    """
    return by_beginning(run.judgments.all())


def in_order_of(steps: Sequence[Step]) -> list[Judgment]:
    """The same from all steps of a run, with their judgments at hand as `judged`."""
    began = {step.key: step.pk for step in steps}

    def place(one: Judgment) -> tuple[int, int, UUID]:
        return one.turn, began.get(one.step.key.replace("/completed", "/started"), 0), one.pk

    return sorted((one for step in steps for one in step.judged), key=place)


def by_beginning(judgments: "QuerySet[Judgment]") -> "QuerySet[Judgment]":
    """The same for judgments of any runs."""
    key = Replace(OuterRef("step__key"), Value("/completed"), Value("/started"))
    began = Step.objects.filter(run=OuterRef("run"), key=key).values("pk")[:1]
    rows = judgments.annotate(began=Subquery(began))
    return rows.order_by("turn", F("began").asc(nulls_first=True), "id")
