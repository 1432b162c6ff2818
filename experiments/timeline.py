"""What a run page shows, in order. Built from the rows, or by replaying the events: both give the same entries."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import Prefetch, Q

from experiments import metrics
from experiments.engine.recorded import COPIED
from experiments.models import Call, Event, Execution, Run, Step
from experiments.models.run import PAUSES, RECORDS, TERMINAL_STATES
from experiments.sandboxing.claims import told
from experiments.serializers import BallotSerializer, JudgmentSerializer, TranscriptSerializer
from experiments.workflows import REGISTRY, surface_of, workflow_of
from experiments.workflows.base.steps import SPOKEN
from experiments.workflows.base.surface import Anchor

Data = dict[str, Any]
WAITING = "waiting"
OFFER = "offer"
LARGE = ("request", "logprobs", "text", "reasoning")  # of a call, and shown only with the call itself
ENDINGS = ("experiment_stopped", "experiment_error")
OVER = (Execution.State.DONE, Execution.State.FAILED)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be shown: an event type, whose template renders it, and the event's data.

    anchor: the id of its element; a later entry with the same anchor takes the earlier one's place.
    """

    type: str
    data: Data
    anchor: str


STEERED = ("turn_start", "model_completed", "call_failed")  # the pauses of an arena run in manual mode
SKIPS = {("next", reason) for reason in STEERED}
ANCHORS: dict[str, Anchor] = {  # of events that several workflows have
    "turn_started": "turn-{turn}",
    "message_completed": "message-{id}",
    "message_filtered": "message-{id}",
    "message_superseded": "message-{id}",
    "message_parsed": "message-{id}",
    "judge_evaluation_started": "judge-{key}",
    "judge_evaluation_completed": "judge-{key}",
    "call_retried": "trouble-{call}",
    "call_lost": "trouble-{call}",
    "call_failed": "trouble-{call}",
    "said": "said-{key}",
    "waiting_for_user": WAITING,
    "offer_opened": OFFER,
    "stage_started": "stage-{turn}",
    "seat_replaced": "replaced-{key}",
    "step_skipped": "skipped-{key}",
    "model_metrics": "metrics-{seat}",
    "experiment_stopped": "ending",
    "experiment_error": "ending",
}


@cache
def _anchors() -> dict[str, Anchor]:
    own = [surface_of(slug).entries for slug in REGISTRY]
    return {type_: place for entries in (ANCHORS, *own) for type_, place in entries.items()}


@cache
def _unseen() -> tuple[tuple[str, str], ...]:
    return tuple(one for slug in REGISTRY for one in surface_of(slug).unseen)


def entry(type_: str, data: Data) -> Entry | None:
    """The entry of an event; None when the event shows nowhere but in the status bar."""
    anchor = _anchors().get(type_)
    if anchor is None or (type_ == "said" and not is_telling(data)) or _is_unseen(data):
        return None
    if callable(anchor):
        return Entry(type_, data, anchor(data))
    return Entry(type_, data, anchor.format_map({**data, "key": str(data.get("key", "")).replace("/", "-")}))


def _is_unseen(data: Data) -> bool:
    """Of a call of which hundreds are made side by side: what came of them says enough."""
    purpose, seat = data.get("purpose"), str(data.get("seat", ""))
    return any(purpose == one and seat.startswith(beginning) for one, beginning in _unseen())


def is_telling(said: Data) -> bool:
    """Whether what a person said belongs into the transcript by itself: a rewritten prompt, and somebody skipped.

    The rest shows in what follows from it, such as a message or an intervention.
    """
    if said["reason"] not in STEERED:
        return False
    return bool(said["edited"] or said["action"] == "skip" or (said["action"], said["reason"]) in SKIPS)


def replayed(events: Iterable[Event]) -> list[Entry]:
    """The entries after these events, each in the place where its anchor first appeared."""
    entries: dict[str, Entry] = {}
    for event in events:
        if event.type == "experiment_state" and event.data.get("state") == Run.State.QUEUED:
            entries.pop("ending", None)
        if event.type in ("said", *ENDINGS):
            entries.pop(WAITING, None)
        if event.type == "said":
            entries.pop(OFFER, None)
        if shown := entry(event.type, event.data):
            entries[shown.anchor] = shown
    return list(entries.values())


def from_rows(run: Run, turn: int | None = None, beside: Sequence[str] = ()) -> list[Entry]:
    """The entries of a run as its rows say; when a turn is named, of it and of what belongs to none, which the purposes
    `beside` are said to do, too.
    """
    calls = Prefetch("calls", Call.objects.defer(*LARGE))
    rows = run.steps.order_by("id").select_related("ballot", "execution").defer("execution__code")
    if turn is not None:
        rows = rows.filter(Q(turn=turn) | Q(turn=None) | Q(purpose__in=beside))
    rows = rows.prefetch_related(calls, "judgments")
    steps, said = {step.key: step for step in rows}, _said_at(run, turn)
    shown = [entry(type_, data) for step in steps.values() for type_, data in _of_step(step, steps, said)]
    ending = [entry(*_ending(run))] if run.state in TERMINAL_STATES else _pauses(steps.values())
    offers = [entry("offer_opened", step.waiting_for) for step in steps.values() if step.is_open_offer]
    offers = [] if run.origin in RECORDS else offers[-1:]
    found = [item for item in (*shown, *_metrics(run), *offers, *ending) if item]
    return list({item.anchor: item for item in found}.values())


def _said_at(run: Run, turn: int | None) -> dict[int, Data]:
    """The messages by their step, made in one go: a serializer of its own for each would cost more than the rest."""
    rows = run.messages.all() if turn is None else run.messages.filter(turn=turn)
    messages = list(rows.select_related("call", "step").defer(*(f"call__{field}" for field in LARGE)))
    shown = TranscriptSerializer(messages, many=True).data
    return {message.step_id: data for message, data in zip(messages, shown, strict=True)}


def _of_step(step: Step, steps: dict[str, Step], said: dict[int, Data]) -> Iterator[tuple[str, Data]]:
    if step.purpose == "turn_started":
        yield "turn_started", {"turn": step.turn}
    elif step.purpose == "judge_evaluation_started":
        yield _judgment(step, steps)
    elif step.kind in PAUSES and step.state == Step.State.DONE:
        yield "said", step.said
    elif step.kind == "record" and step.data:
        yield step.purpose, step.data
    elif _is_skipped(step):
        yield "step_skipped", {"key": step.key, "purpose": step.purpose, "seat": step.seat, "turn": step.turn}
    for call in sorted(step.calls.all(), key=lambda call: call.attempt):
        yield from _trouble(step, call)
    if step.pk in said:
        yield ("message_parsed" if f"{step.key}/parsed" in steps else "message_completed"), said[step.pk]
    if hasattr(step, "ballot"):
        yield "ballot_read", _of_ballot(step, steps, said)
    if step.kind == "execute" and (execution := getattr(step, "execution", None)) and execution.state in OVER:
        execution.step = step
        yield "solution_executed", told(execution)


def _is_skipped(step: Step) -> bool:
    """Of an answer that nobody was asked for any more, a limit being reached."""
    return step.kind == "ask" and step.data.get(COPIED, {}).get("error_kind") == "limit"


def _of_ballot(step: Step, steps: dict[str, Step], said: dict[int, Data]) -> Data:
    """Its review is the step after which it is named: `review/1/member-2/ballot`."""
    review = steps.get(step.key.removesuffix("/ballot"))
    return {
        "ballot": dict(BallotSerializer(step.ballot).data),
        "message": said.get(review.pk) if review else None,
    }


def _pauses(steps: Iterable[Step]) -> list[Entry | None]:
    """The pause that waits for a person, the latest of them."""
    is_open = [step for step in steps if step.is_open_pause]
    return [entry("waiting_for_user", step.waiting_for) for step in is_open[-1:]]


def _judgment(started: Step, steps: dict[str, Step]) -> tuple[str, Data]:
    key = started.key.removesuffix("/started")
    done = steps.get(f"{key}/completed")
    if done is None:
        return "judge_evaluation_started", {"key": key, "turn": started.turn}
    judgments = JudgmentSerializer(list(done.judgments.all()), many=True).data
    return "judge_evaluation_completed", {"key": key, "turn": started.turn, "judgments": judgments}


def _trouble(step: Step, call: Call) -> Iterator[tuple[str, Data]]:
    data = {"call": str(call.pk), "seat": step.seat, "turn": step.turn, "attempt": call.attempt}
    data["purpose"] = step.purpose
    if call.state == Call.State.LOST:
        yield "call_lost", data
    elif call.state == Call.State.FAILED and (call.attempt < len(step.calls.all()) or step.state == Step.State.OPEN):
        yield "call_retried", {**data, "kind": call.error_kind, "message": call.error}
    elif call.state == Call.State.FAILED and step.purpose in SPOKEN:
        yield "call_failed", {**data, "kind": call.error_kind, "message": call.error}


def _metrics(run: Run) -> Iterator[Entry | None]:
    """As they were after the last judged turn: the event that carries them is sent with its judgments."""
    if not workflow_of(run.experiment.workflow).subjects:
        return
    judgments = list(run.judgments.all())
    subjects = sorted({judgment.subject for judgment in judgments})
    last = max((judgment.turn for judgment in judgments), default=0)
    for seat, numbers in metrics.run_metrics(run, subjects, until=last).items():
        yield entry("model_metrics", {"seat": seat, "metrics": numbers})


def _ending(run: Run) -> tuple[str, Data]:
    failed = run.state == Run.State.FAILED
    data = {"state": run.state, "reason": run.stop_reason, "message": run.error}
    return ("experiment_error" if failed else "experiment_stopped"), data
