"""What a run page shows, in order. Built from the rows, or by replaying the events: both give the same entries."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from experiments import metrics
from experiments.models import Call, Event, Run, Step
from experiments.models.run import TERMINAL_STATES
from experiments.serializers import JudgmentSerializer, MessageSerializer

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be shown: an event type, whose template renders it, and the event's data.

    anchor: the id of its element; a later entry with the same anchor takes the earlier one's place.
    """

    type: str
    data: Data
    anchor: str


def _turn(data: Data) -> str:
    return f"turn-{data['turn']}"


def _message(data: Data) -> str:
    return f"message-{data['id']}"


def _judge(data: Data) -> str:
    return f"judge-{data['turn']}"


def _call(data: Data) -> str:
    return f"trouble-{data['call']}"


def _metrics_of(data: Data) -> str:
    return f"metrics-{data['seat']}"


def _the_ending(data: Data) -> str:
    return "ending"


ANCHORS = {
    "turn_started": _turn,
    "message_completed": _message,
    "message_filtered": _message,
    "judge_evaluation_started": _judge,
    "judge_evaluation_completed": _judge,
    "call_retried": _call,
    "call_lost": _call,
    "model_metrics": _metrics_of,
    "experiment_stopped": _the_ending,
    "experiment_error": _the_ending,
}


def entry(type_: str, data: Data) -> Entry | None:
    """The entry of an event; None when the event shows nowhere but in the status bar."""
    anchor = ANCHORS.get(type_)
    return Entry(type_, data, anchor(data)) if anchor else None


def replayed(events: Iterable[Event]) -> list[Entry]:
    """The entries after these events, each in the place where its anchor first appeared."""
    entries: dict[str, Entry] = {}
    for event in events:
        if event.type == "experiment_state" and event.data.get("state") == Run.State.QUEUED:
            entries.pop("ending", None)
        elif shown := entry(event.type, event.data):
            entries[shown.anchor] = shown
    return list(entries.values())


def from_rows(run: Run) -> list[Entry]:
    """The entries of a run as its rows say."""
    rows = run.steps.order_by("id").select_related("message__call").prefetch_related("calls", "judgments")
    steps = list(rows)
    judged = {step.turn: step for step in steps if step.judgments.all()}
    shown = [entry(type_, data) for step in steps for type_, data in _of_step(step, judged)]
    ending = [entry(*_ending(run))] if run.state in TERMINAL_STATES else []
    return [item for item in (*shown, *_metrics(run), *ending) if item]


def _of_step(step: Step, judged: dict[int | None, Step]) -> Iterator[tuple[str, Data]]:
    if step.purpose == "turn_started":
        yield "turn_started", {"turn": step.turn}
    elif step.purpose == "judge_evaluation_started":
        yield _judgment(step, judged)
    for call in sorted(step.calls.all(), key=lambda call: call.attempt):
        yield from _trouble(step, call)
    if hasattr(step, "message"):
        yield "message_completed", dict(MessageSerializer(step.message).data)


def _judgment(step: Step, judged: dict[int | None, Step]) -> tuple[str, Data]:
    done = judged.get(step.turn)
    if done is None:
        return "judge_evaluation_started", {"turn": step.turn}
    judgments = list(done.judgments.all())
    return "judge_evaluation_completed", {"turn": step.turn, "judgments": JudgmentSerializer(judgments, many=True).data}


def _trouble(step: Step, call: Call) -> Iterator[tuple[str, Data]]:
    data = {"call": str(call.pk), "seat": step.seat, "turn": step.turn, "attempt": call.attempt}
    if call.state == Call.State.LOST:
        yield "call_lost", data
    elif call.state == Call.State.FAILED and (call.attempt < len(step.calls.all()) or step.state == Step.State.OPEN):
        yield "call_retried", {**data, "kind": call.error_kind, "message": call.error}


def _metrics(run: Run) -> Iterator[Entry | None]:
    """As they were after the last judged turn: the event that carries them is sent with its judgments."""
    judgments = list(run.judgments.all())
    subjects = sorted({judgment.subject for judgment in judgments})
    last = max((judgment.turn for judgment in judgments), default=0)
    calls = run.calls.filter(step__seat__in=subjects, step__turn__lte=last).order_by()
    tokens = dict(calls.values_list("step__seat").annotate(total=Sum("output_tokens")))
    for seat, numbers in metrics.run_metrics(run, subjects).items():
        yield entry("model_metrics", {"seat": seat, "metrics": {**numbers, "tokens": tokens.get(seat)}})


def _ending(run: Run) -> tuple[str, Data]:
    failed = run.state == Run.State.FAILED
    data = {"state": run.state, "reason": run.stop_reason, "message": run.error}
    return ("experiment_error" if failed else "experiment_stopped"), data
