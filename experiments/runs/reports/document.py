"""A run as data, made from its own record: one JSON document that holds all of it, or JSON lines, one row each."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from rest_framework.utils.encoders import JSONEncoder

from experiments.api.serializers import (
    CallSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
)
from experiments.engine.projections import listed_writers, with_rows
from experiments.library.instruments.api import AnnotationSerializer
from experiments.models import Annotation, Call, Message, Note, Run, Step
from experiments.models.run import PAUSES
from experiments.runs import metrics
from experiments.workflows.coding.services import KNOWN, without_titles

REPORT_VERSION = 1
ROWS_AT_ONCE = 50
SENT_AT_ONCE = 1 << 16  # bytes
INTERVENTION = "intervention"
OFFER = "offer"
CHOICES = frozenset(  # what a person may choose instead of going on
    {"skip", "next", "end", "regenerate", "retry", "retry_seat", "retry_short", "conclude", "deliberate"}
)
ASKED_AGAIN = frozenset({"retry_seat", "retry_short"})  # choices that name a seat
TAKEN_UP = frozenset({"round", "summarize"})  # the usual course of a debate, and a choice once it has concluded

STEP_FIELDS = ("key", "kind", "purpose", "seat", "turn", "state", "prompt_version")

Row = dict[str, object]


def document(run: Run) -> Row:
    """The whole record of a run. `run` needs the totals of `with_totals`. damage: of `engine/verification.py`, empty
    for a record that is whole.
    """
    messages = list(run.messages.select_related("call", "step"))
    steps = list(with_rows(run.steps.order_by("id").select_related("message")))
    return {
        "report_version": REPORT_VERSION,
        "run": {
            **RunSerializer(run).data,
            "mode": run.mode,
            "overrides": run.overrides,
            "origin": run.origin,
            "waited_seconds": run.waited_seconds,
            "damage": run.damage,
        },
        "experiment": ExperimentSerializer(run.experiment).data,
        "lineage": lineage(run),
        "messages": MessageSerializer(messages, many=True).data,
        "interventions": [intervention(step) for step in steps if is_intervention(step)],
        "judgments": JudgmentSerializer(run.judgments.all(), many=True).data,
        **{one.name: one.serializer(one.rows(run), many=True).data for one, _writer in listed_writers()},
        "annotations": AnnotationSerializer(annotations_of(run), many=True).data,
        "metrics": metrics.shown(metrics.run_metrics(run, sorted({message.seat for message in messages}))),
        "calls": CallSerializer(_calls(run), many=True).data,
        "steps": [_step_row(step, run) for step in steps],
        "notes": [_note_row(note) for note in _notes(run)],
    }


def json_lines(run: Run) -> Iterator[bytes]:
    """One JSON object per line; `kind` says what it is: run, message, judgment, ballot, cycle, execution, annotation,
    intervention, call, event or note. Notes are those of `run.reader`. Nothing is held in memory as a whole.

    Every row names its run, so that the files of several runs can be put one after the other. `run` needs the totals
    of `with_totals`.
    """

    def line(kind: str, row: Row) -> bytes:
        return encoded({"kind": kind, "run": str(run.pk), **row}) + b"\n"

    def lines(kind: str, rows: QuerySet[Any], as_row: Callable[[Any], Any]) -> Iterator[bytes]:
        return (line(kind, as_row(row)) for row in each(rows))

    seats = sorted(set(run.messages.order_by().values_list("seat", flat=True)))
    head = {
        "report_version": REPORT_VERSION,
        **RunSerializer(run).data,
        "mode": run.mode,
        "origin": run.origin,
        "overrides": run.overrides,
        "damage": run.damage,
        "experiment": ExperimentSerializer(run.experiment).data,
        "lineage": lineage(run),
        "metrics": metrics.shown(metrics.run_metrics(run, seats)),
    }
    yield line("run", head)
    yield from lines("message", run.messages.select_related("call", "step"), message_rows())
    yield from lines("judgment", run.judgments.all(), JudgmentSerializer().to_representation)
    for listed, _writer in listed_writers():
        yield from lines(listed.line, listed.rows(run), listed.serializer().to_representation)
    yield from lines("annotation", annotations_of(run), AnnotationSerializer().to_representation)
    for row in interventions(run):  # `deed` is what the document calls `kind`, which says here what the line is
        others = {name: value for name, value in row.items() if name != "kind"}
        yield line("intervention", {"id": row["key"], "deed": row["kind"], **others})
    yield from lines("call", _calls(run), CallSerializer().to_representation)
    yield from lines("event", run.events.all(), lambda event: event.envelope)
    yield from lines("note", _notes(run), _note_row)


def file_name(run: Any, extension: str) -> str:
    """`arena-lab-arena-2026-03-01T12-00-00-0193b2c4.pdf`: the workflow, its start in UTC, and what begins its id."""
    moment = run.started or run.created
    workflow = re.sub(r"[^a-z0-9]+", "-", run.experiment.workflow.lower())
    return f"arena-lab-{workflow}-{moment:%Y-%m-%dT%H-%M-%S}-{str(run.pk)[:8]}.{extension}"


# --- rows ---


def each(rows: QuerySet[Any], at_once: int = ROWS_AT_ONCE) -> Iterator[Any]:
    """The rows, a few at a time. No query is open between them: on SQLite, one whose reader has not ended can write
    nothing, such as how far a file is, once somebody else has written.
    """
    keys = list(rows.values_list("pk", flat=True))
    for first in range(0, len(keys), at_once):
        found = rows.order_by().in_bulk(part := keys[first : first + at_once])
        yield from (found[key] for key in part if key in found)


def message_rows() -> Callable[[Message], Row]:
    """Gives messages as rows. One serializer serves them all: to make one takes longer than to use it."""
    serializer = MessageSerializer()

    def as_row(message: Message) -> Row:
        changed = {"operator": message.operator, "superseded": message.superseded, "flags": message.flags}
        return {**serializer.to_representation(message), **changed}

    return as_row


def annotations_of(run: Run) -> QuerySet[Annotation]:
    """What the run's own judge found in it by an instrument."""
    return run.annotations.filter(made_in=run).select_related("version__instrument", "person").order_by("id")


def _calls(run: Run) -> QuerySet[Call]:
    return run.calls.select_related("step", "model__provider").order_by("id")


def _notes(run: Run) -> QuerySet[Note]:
    """Those that whoever takes the data away has written: other people's are not theirs to hand on."""
    if run.reader is None:
        return Note.objects.none()
    return Note.objects.written_by(run.reader).filter(run=run)


def _note_row(note: Note) -> Row:
    return {
        "id": str(note.pk),
        "message": _id(note.message_id),
        **{name: getattr(note, name) for name in ("text", "shared", "created", "edited")},
    }


def _step_row(step: Step, run: Run) -> Row:
    own = {one.line: getattr(step, one.line, None) for one, _writer in listed_writers() if one.step}
    is_owners = run.reader is not None and run.reader.pk == run.experiment.owner_id
    return {
        **{name: getattr(step, name) for name in STEP_FIELDS},
        "data": without_titles(step.data) if step.purpose == KNOWN and not is_owners else step.data,
        "ended": step.ended,
        "message": _id(step.message.pk) if hasattr(step, "message") else None,
        "judgments": [_id(judgment.pk) for judgment in step.judged],
        **{line: _id(row.pk) if row else None for line, row in own.items()},
        "source": next((_id(one.call_id) for one in (*step.judged, *own.values()) if one), None),
    }


def _id(key: Any) -> str | None:
    return str(key) if key else None


def lineage(run: Run) -> Row:
    """Where a run comes from and what was made from it: ids, and the message at which it branched."""
    return {
        "parent": _id(run.parent_id),
        "branched_from": _id(run.branched_from_id),
        "children": [
            {
                "run": _id(child.pk),
                "workflow": child.experiment.workflow,
                "branched_from": _id(child.branched_from_id),
                "state": child.state,
            }
            for child in made_from(run)
        ],
    }


def made_from(run: Run) -> QuerySet[Run]:
    """Branches and judgings of the run that its reader may see; without a reader, those that everybody may."""
    seen = Run.objects.visible_to(run.reader or AnonymousUser()).filter(parent=run)
    return seen.order_by("created", "id").select_related("experiment", "branched_from")


# --- what people did to a run ---


def interventions(run: Run) -> Iterator[Row]:
    return (intervention(step) for step in each(run.steps.order_by("id")) if is_intervention(step))


def is_intervention(step: Step) -> bool:
    """Whether a person changed what happens here: by a planned or spontaneous intervention, a text of their own, or a
    choice. After a whole turn, going on to the next one is what was to come anyway.
    """
    if step.purpose == INTERVENTION:
        return True
    if step.kind not in PAUSES:
        return False
    action = step.data.get("action")
    if is_edited(step) or (action in TAKEN_UP and step.kind == OFFER):
        return True
    return action in CHOICES and not (action == "next" and step.purpose == "turn_completed")


def is_edited(step: Step) -> bool:
    """Whether somebody sent another text than the one that was offered. A pause that offers none asks for one."""
    return bool(step.data.get("edited") and step.data.get("default") and step.data.get("action") == "send")


def intervention(step: Step) -> Row:
    """What a person did, in one shape: kind is that of the intervention, `edited`, or the action that was chosen."""
    data = step.data
    own = data.get("kind") if step.purpose == INTERVENTION else "edited" if is_edited(step) else data.get("action")
    return {
        "key": step.key,
        "kind": own,
        "seat": data.get("text", "") if own in ASKED_AGAIN else data.get("seat") or step.seat,
        "turn": step.turn,
        "by": data.get("by"),
        "text": data.get("text", ""),
        "original": data.get("original", data.get("default", "")),
        "question": data.get("question", ""),
        "missed": data.get("missed", ""),
        "at": step.ended,
    }


# --- bytes ---


def encoded(value: Any) -> bytes:
    """Compact JSON. Line separators that some readers of lines would stop at are escaped."""
    text = json.dumps(value, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085").encode()


def gathered(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Fewer, larger chunks: each one that travels costs a change of threads."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        if len(held) >= SENT_AT_ONCE:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
