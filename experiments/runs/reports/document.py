"""A run as one document: every export is made from it, and it is made from the run's own record."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from experiments.api.serializers import (
    CallSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
)
from experiments.engine.projections import listed_writers, with_rows
from experiments.models import Note, Run, Step
from experiments.models.run import PAUSES
from experiments.runs import metrics
from experiments.workflows.coding.services import KNOWN, without_titles

REPORT_VERSION = 1
INTERVENTION = "intervention"
OFFER = "offer"
CHOICES = frozenset(  # what a person may choose instead of going on
    {"skip", "next", "end", "regenerate", "retry", "retry_seat", "retry_short", "conclude", "deliberate"}
)
ASKED_AGAIN = frozenset({"retry_seat", "retry_short"})  # choices that name a seat
TAKEN_UP = frozenset({"round", "summarize"})  # the usual course of a debate, and a choice once it has concluded


def document(run: Run) -> dict[str, object]:
    """The whole record of a run. `run` needs the totals of `with_totals`."""
    calls = run.calls.select_related("step", "model__provider").order_by("id")
    messages = list(run.messages.select_related("call", "step"))
    steps = list(with_rows(run.steps.order_by("id").select_related("message").prefetch_related("judgments")))
    seats = sorted({message.seat for message in messages})
    return {
        "report_version": REPORT_VERSION,
        "run": _run(run),
        "experiment": ExperimentSerializer(run.experiment).data,
        "lineage": lineage(run),
        "messages": MessageSerializer(messages, many=True).data,
        "interventions": [intervention(step) for step in steps if is_intervention(step)],
        "judgments": JudgmentSerializer(run.judgments.all(), many=True).data,
        **{one.name: one.serializer(one.rows(run), many=True).data for one, _writer in listed_writers()},
        "metrics": metrics.shown(metrics.run_metrics(run, seats)),
        "calls": CallSerializer(calls, many=True).data,
        "steps": [_step(step, run) for step in steps],
        "notes": [note_row(note) for note in notes(run)],
    }


def notes(run: Run) -> QuerySet[Note]:
    """Those that whoever takes the data away has written: other people's are not theirs to hand on."""
    if run.reader is None:
        return Note.objects.none()
    return Note.objects.written_by(run.reader).filter(run=run)


def note_row(note: Note) -> dict[str, object]:
    return {
        "id": str(note.pk),
        "message": _id(note.message_id),
        "text": note.text,
        "shared": note.shared,
        "created": note.created,
        "edited": note.edited,
    }


def lineage(run: Run) -> dict[str, object]:
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


def is_intervention(step: Step) -> bool:
    """Whether a person changed what happens here: a planned or spontaneous deed, a text of their own, or a choice."""
    if step.purpose == INTERVENTION:
        return True
    return step.kind in PAUSES and (is_edited(step) or _is_choice(step))


def is_edited(step: Step) -> bool:
    """Whether somebody sent another text than the one that was offered. A pause that offers none asks for one."""
    return bool(step.data.get("edited") and step.data.get("default") and step.data.get("action") == "send")


def _is_choice(step: Step) -> bool:
    """After a whole turn, going on to the next one is what was to come anyway."""
    action = step.data.get("action")
    if action in TAKEN_UP:
        return step.kind == OFFER
    return action in CHOICES and not (action == "next" and step.purpose == "turn_completed")


def intervention(step: Step) -> dict[str, object]:
    """What a person did, in one shape: kind is that of the deed, `edited`, or the action that was chosen."""
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


def _run(run: Run) -> dict[str, Any]:
    return {
        **RunSerializer(run).data,
        "mode": run.mode,
        "overrides": run.overrides,
        "origin": run.origin,
        "waited_seconds": run.waited_seconds,
    }


def _step(step: Step, run: Run) -> dict[str, Any]:
    judgments: Sequence[Any] = list(step.judgments.all())
    own = {one.line: getattr(step, one.line, None) for one, _writer in listed_writers() if one.step}
    is_owners = run.reader is not None and run.reader.pk == run.experiment.owner_id
    data = without_titles(step.data) if step.purpose == KNOWN and not is_owners else step.data
    found = [*judgments, *(row for row in own.values() if row)]
    return {
        "key": step.key,
        "kind": step.kind,
        "purpose": step.purpose,
        "seat": step.seat,
        "turn": step.turn,
        "state": step.state,
        "prompt_version": step.prompt_version,
        "data": data,
        "ended": step.ended,
        "message": _id(step.message.pk) if hasattr(step, "message") else None,
        "judgments": [_id(judgment.pk) for judgment in judgments],
        **{line: _id(row.pk) if row else None for line, row in own.items()},
        "source": next((_id(one.call_id) for one in found), None),
    }


def _id(key: Any) -> str | None:
    return str(key) if key else None
