"""What a run page shows, in order, built from the rows or by replaying the events; and each entry as HTML."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import Case, Prefetch, Q, TextField, Value, When
from django.template.loader import render_to_string
from django.utils import translation

from experiments.engine.projections import Loaded, message_data, metrics_shown, row_writer_of, stored, with_rows
from experiments.models import Call, Event, Experiment, Run, Step
from experiments.models.labels import where_measured
from experiments.models.run import RECORDS, TERMINAL_STATES
from experiments.models.work import Envelope
from experiments.runs.fragments import Fragments
from experiments.runs.metrics import in_order, in_order_of
from experiments.workflows import REGISTRY, surface_of, workflow_of
from experiments.workflows.base.events import (
    CallFailed,
    CallLost,
    CallRetried,
    EventData,
    ExperimentError,
    ExperimentStopped,
    JsonObject,
    Said,
)
from experiments.workflows.base.steps import SPOKEN
from experiments.workflows.base.surface import Anchor, Slot

WAITING = "waiting"
OFFER = "offer"
LARGE = ("request", "logprobs", "text", "reasoning")  # of a call, and shown only with the call itself
TRIED = ("attempt", "state", "error_kind", "error")  # what is shown of a call beside its message
ENDINGS = ("experiment_stopped", "experiment_error")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to be shown: an event type, whose template renders it, and the event's data.

    anchor: the id of its element; a later entry with the same anchor takes the earlier one's place.
    """

    type: str
    data: JsonObject
    anchor: str


STEERED = ("turn_start", "model_completed", "call_failed")  # the pauses of an arena run in manual mode
SKIPS = {("next", reason) for reason in STEERED}
ANCHORS: dict[str, Anchor] = {  # of events that several workflows have
    "turn_started": "turn-{turn}",
    "message_completed": "message-{id}",
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
    "person_absent": "absent-{key}",
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


def entry(type_: str, data: JsonObject) -> Entry | None:
    """The entry of an event; None when the event shows nowhere but in the status bar."""
    anchor = _anchors().get(type_)
    if anchor is None or (type_ == "said" and not is_telling(Said.read(data))):
        return None
    purpose, seat = data.get("purpose"), str(data.get("seat", ""))
    if any(purpose == one and seat.startswith(beginning) for one, beginning in _unseen()):
        return None  # of a call of which hundreds are made side by side: what came of them says enough
    if callable(anchor):
        return Entry(type_, data, anchor(data))
    return Entry(type_, data, anchor.format_map({**data, "key": str(data.get("key", "")).replace("/", "-")}))


def is_telling(said: Said) -> bool:
    """Whether what a person said belongs into the transcript by itself: a rewritten prompt, and somebody skipped.

    The rest shows in what follows from it, such as a message or an intervention.
    """
    if said.reason not in STEERED:
        return False
    return bool(said.edited or said.action == "skip" or (said.action, said.reason) in SKIPS)


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
        if event.type == "person_asked":  # once more, after a resume
            entries.pop(f"absent-{event.data['key'].replace('/', '-')}", None)
        if shown := entry(event.type, event.data):
            entries[shown.anchor] = shown
    return list(entries.values())


def from_rows(run: Run, turn: int | None = None, beside: Sequence[str] = ()) -> list[Entry]:
    """The entries of a run as its rows say; when a turn is named, of it and of what belongs to none, which the purposes
    `beside` are said to do, too.
    """
    partial = Case(When(state=Call.State.FAILED, then="text"), default=Value(""), output_field=TextField())
    calls = Call.objects.only("step", *TRIED).annotate(partial=partial).order_by("attempt")
    attempts = Prefetch("calls", calls, to_attr="attempts")
    rows = with_rows(run.steps.order_by("id"), run.experiment.workflow)
    rows = rows.prefetch_related(attempts)  # type: ignore[no-redef]  # by the stubs
    if turn is not None:
        rows = rows.filter(Q(turn=turn) | Q(turn=None) | Q(purpose__in=beside))
    steps = list(rows)
    loaded = Loaded({step.key: step for step in steps}, _said_at(run, turn, steps))
    shown = [told for step in steps for told in _of_step(step, loaded)]
    ended = ExperimentError if run.state == Run.State.FAILED else ExperimentStopped
    ending: list[EventData] = (
        [ended(state=run.state, reason=run.stop_reason, message=run.error)]
        if run.state in TERMINAL_STATES
        else [step.pause for step in steps if step.is_open_pause]
    )
    offers = [] if run.origin in RECORDS else [step.pause for step in steps if step.is_open_offer]
    found = (
        entry(told.type, told.data())
        for told in (*shown, *_metrics(run, steps if turn is None else None), *offers[-1:], *ending[-1:])
    )
    return list({item.anchor: item for item in found if item}.values())


def arranged(entries: Iterable[Entry], slot_of: Slot) -> dict[str, list[Entry]]:
    """The entries by their slots, in order."""
    slots: dict[str, list[Entry]] = {}
    for shown in entries:
        slots.setdefault(slot_of(shown.type, shown.data), []).append(shown)
    return slots


def _said_at(run: Run, turn: int | None, steps: Sequence[Step]) -> dict[int, JsonObject]:
    """The messages by their step."""
    of_id = {step.pk: step for step in steps}
    rows = run.messages.all() if turn is None else run.messages.filter(turn=turn)
    said = {}
    for message in rows.select_related("call").defer(*(f"call__{field}" for field in LARGE)):
        if step := of_id.get(message.step_id):  # none of one that was said a moment after the steps were read
            message.step = step
            said[step.pk] = message_data(message)
    return said


def _of_step(step: Step, loaded: Loaded) -> Iterator[EventData]:
    yield from row_writer_of(step).entries(step, loaded)
    for call in step.attempts:
        yield from _trouble(step, call, has_message=step.pk in loaded.messages)
    if said := loaded.messages.get(step.pk):
        yield stored("message_parsed" if f"{step.key}/parsed" in loaded.steps else "message_completed", said)


def _trouble(step: Step, call: Call, *, has_message: bool) -> Iterator[EventData]:
    place = {"call": str(call.pk), "seat": step.seat, "turn": step.turn, "attempt": call.attempt}
    place["purpose"] = step.purpose
    if call.state == Call.State.LOST:
        yield CallLost(**place)
    elif call.state == Call.State.FAILED and (call.attempt < len(step.attempts) or step.state == Step.State.OPEN):
        yield CallRetried(**place, kind=call.error_kind, message=call.error)
    elif call.state == Call.State.FAILED and step.purpose in SPOKEN:
        partial = "" if has_message else call.partial  # type: ignore[attr-defined]  # annotated
        yield CallFailed(**place, kind=call.error_kind, message=call.error, partial=partial)


def _metrics(run: Run, steps: Sequence[Step] | None) -> Iterator[EventData]:
    """As they were after the last judged turn: the event that carries them is sent with its judgments. steps: all of
    the run, None where only some are known.
    """
    if workflow_of(run.experiment.workflow).subjects:
        judgments = list(in_order(run)) if steps is None else in_order_of(steps)
        yield from metrics_shown(run, sorted({one.subject for one in judgments}), judgments)


FAMILIES = {  # types of events that look alike: where one has no template of its own, that of its family shows it
    **{f"message_{what}": "message" for what in ("completed", "parsed", "superseded", "filtered", "altered")},
    **{f"call_{what}": "call" for what in ("retried", "lost", "failed")},
}


def look_of(experiment: Experiment) -> str:
    """The workflow whose fragments show its events: as a rule its own."""
    look = surface_of(experiment.workflow).look
    return look(experiment.config) if look else experiment.workflow


def render(shown: Entry, run_id: UUID | str, look: str, run: Run | None = None, **words: Any) -> str:
    """words: what only the page knows; a pushed fragment does without. Of `run`, which only a page gives, a fragment
    shows nothing but its configuration.
    """
    what = [translation.get_language(), look, str(run_id), shown.type, shown.anchor, shown.data]
    given = [*what, run.overrides if run else None, words]
    return _fragments.of(given, lambda: _rendered(shown, run_id, look, run=run, **words))


def _rendered(shown: Entry, run_id: UUID | str, look: str, **words: Any) -> str:
    context = {"run_id": run_id, "anchor": shown.anchor, "type": shown.type, "data": shown.data, **words}
    surface = surface_of(look)
    context |= {"slot": surface.slot(shown.type, shown.data), "seat_names": surface.seats}
    context["where"] = where_measured(surface.told, str(shown.data.get("key", "")), shown.data.get("turn"))
    names = [name for name in (shown.type, FAMILIES.get(shown.type)) if name]
    templates = [f"{place}events/{name}.html" for place in (f"workflows/{look}/", "") for name in names]
    return render_to_string([*templates, "events/pairs.html"], context)


def render_envelope(envelope: Envelope, language: str, look: str, cast: Mapping[str, str]) -> str | None:
    """The fragment of an event as it travels, in the viewer's language; None when it shows nothing. cast: the models'
    labels by seat, which some fragments need.
    """
    shown = entry(envelope["type"], envelope["data"])
    if shown is None:
        return None
    with translation.override(language):
        return render(shown, envelope["run"], look, cast=cast)


_fragments = Fragments()
