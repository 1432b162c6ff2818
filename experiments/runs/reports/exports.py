"""A run as JSON lines: what it is in the first line, then one row per line. Nothing is held in memory as a whole."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import QuerySet
from rest_framework.utils.encoders import JSONEncoder

from experiments.api.serializers import (
    CallSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
)
from experiments.engine.projections import listed_writers
from experiments.models import Message, Run
from experiments.runs import metrics
from experiments.runs.reports.document import REPORT_VERSION, intervention, is_intervention, lineage, note_row, notes

Row = dict[str, object]
ROWS_AT_ONCE = 50


def json_lines(run: Run) -> Iterator[bytes]:
    """One JSON object per line; `kind` says what it is: run, message, judgment, ballot, cycle, execution, intervention,
    call, event or note. Notes are those of `run.reader`.

    Every row names its run, so that the files of several runs can be put one after the other. `run` needs the totals
    of `with_totals`.
    """
    yield _line("run", run, _head(run))
    yield from _lines("message", run, run.messages.select_related("call", "step"), message_rows())
    yield from _lines("judgment", run, run.judgments.all(), JudgmentSerializer().to_representation)
    for listed, _writer in listed_writers():
        yield from _lines(listed.line, run, listed.rows(run), listed.serializer().to_representation)
    yield from (_line("intervention", run, _deed(row)) for row in interventions(run))
    calls = run.calls.select_related("step", "model__provider").order_by("id")
    yield from _lines("call", run, calls, CallSerializer().to_representation)
    yield from _lines("event", run, run.events.all(), lambda event: event.envelope)
    yield from _lines("note", run, notes(run), note_row)


def each(rows: QuerySet[Any]) -> Iterator[Any]:
    """The rows, a few at a time."""
    return rows.iterator(chunk_size=ROWS_AT_ONCE)


def message_rows() -> Callable[[Message], Row]:
    """Gives messages as rows. One serializer serves them all: to make one takes longer than to use it."""
    serializer = MessageSerializer()

    def as_row(message: Message) -> Row:
        changed = {"operator": message.operator, "superseded": message.superseded, "flags": message.flags}
        return {**serializer.to_representation(message), **changed}

    return as_row


def _head(run: Run) -> Row:
    seats = sorted(set(run.messages.order_by().values_list("seat", flat=True)))
    return {
        "report_version": REPORT_VERSION,
        **RunSerializer(run).data,
        "mode": run.mode,
        "origin": run.origin,
        "overrides": run.overrides,
        "experiment": ExperimentSerializer(run.experiment).data,
        "lineage": lineage(run),
        "metrics": metrics.shown(metrics.run_metrics(run, seats)),
    }


def interventions(run: Run) -> Iterator[Row]:
    """What people did to the run, as its document says it."""
    return (intervention(step) for step in each(run.steps.order_by("id")) if is_intervention(step))


def _deed(row: Row) -> Row:
    """`deed` is what the run's document calls `kind`, which says here what the line is."""
    return {"id": row["key"], "deed": row["kind"], **{name: value for name, value in row.items() if name != "kind"}}


def _lines(kind: str, run: Run, rows: QuerySet[Any], as_row: Callable[[Any], Any]) -> Iterator[bytes]:
    return (_line(kind, run, as_row(row)) for row in each(rows))


def _line(kind: str, run: Run, row: Row) -> bytes:
    return encoded({"kind": kind, "run": str(run.pk), **row}) + b"\n"


def encoded(value: Any) -> bytes:
    """Compact JSON. Line separators that some readers of lines would stop at are escaped."""
    text = json.dumps(value, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085").encode()


def gathered(chunks: Iterable[bytes], size: int = 1 << 16) -> Iterator[bytes]:
    """Fewer, larger chunks: each one that travels costs a change of threads."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        if len(held) >= size:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
