"""Runs as tables: the same rows for CSV and Parquet, with the type of each column.

Columns are added at the end and never renamed: programs read them by name.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from rest_framework.utils.encoders import JSONEncoder

from experiments.api.serializers import (
    BallotSerializer,
    CallSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
)
from experiments.models import Run
from experiments.runs.reports.document import each
from experiments.workflows.coding.pages.serializers import ExecutionSerializer
from experiments.workflows.coding.rows import executions
from experiments.workflows.council.rows import ballots

TEXT, WHOLE, NUMBER, MONEY, TRUTH, MOMENT, JSON = "text", "whole", "number", "money", "truth", "moment", "json"
Row = dict[str, object]


class Table(NamedTuple):
    """columns: names to types. rows: of a run, with the totals of `with_totals`."""

    name: str
    columns: dict[str, str]
    rows: Callable[[Run], Iterator[Row]]


def _runs(run: Run) -> Iterator[Row]:
    shown = dict(RunSerializer(run).data)
    cast = {one.seat: one.model.slug for one in run.experiment.participants.select_related("model")}
    experiment = {"owner": run.experiment.owner.username, "config": run.config, "cast": cast}
    yield {**shown, **shown.pop("usage"), **experiment}


def _messages(run: Run) -> Iterator[Row]:
    serializer = MessageSerializer()
    for message in each(run.messages.select_related("call", "step")):
        row = serializer.to_representation(message)
        yield {**row, **(row.pop("usage") or {}), "run": run.pk}


def _judgments(run: Run) -> Iterator[Row]:
    serializer = JudgmentSerializer()
    return ({**serializer.to_representation(one), "run": run.pk} for one in each(run.judgments.all()))


def _ballots(run: Run) -> Iterator[Row]:
    serializer = BallotSerializer()
    return ({**serializer.to_representation(one), "run": run.pk} for one in each(ballots(run)))


def _battles(run: Run) -> Iterator[Row]:
    """As this run judged them: what became of them later stands on their board."""
    for step in each(run.steps.filter(purpose="battle_judged").order_by("id")):
        names = {side: step.data.get(f"{side}_name") for side in ("left", "right")}
        yield {**step.data, **names, "run": run.pk, "judged": step.ended}


def _executions(run: Run) -> Iterator[Row]:
    serializer = ExecutionSerializer()
    return ({**serializer.to_representation(one), "run": run.pk} for one in each(executions(run)))


def _calls(run: Run) -> Iterator[Row]:
    serializer = CallSerializer()
    rows = run.calls.select_related("step", "model__provider").order_by("id")
    return ({**serializer.to_representation(one), "run": run.pk} for one in each(rows))


TABLES = (
    Table(
        "runs",
        {
            **dict.fromkeys(("id", "experiment", "workflow", "title", "state", "mode", "origin", "owner"), TEXT),
            **dict.fromkeys(("parent", "branched_from"), TEXT),
            **dict.fromkeys(("seed", "turn", "input_tokens", "output_tokens", "reasoning_tokens", "calls"), WHOLE),
            "cost": MONEY,
            **dict.fromkeys(("stop_reason", "error"), TEXT),
            **dict.fromkeys(("created", "started", "ended"), MOMENT),
            **dict.fromkeys(("config", "cast"), JSON),
        },
        _runs,
    ),
    Table(
        "messages",
        {
            **dict.fromkeys(("run", "id"), TEXT),
            "turn": WHOLE,
            **dict.fromkeys(("seat", "purpose", "model", "text", "raw_text", "reasoning", "finish_reason"), TEXT),
            **dict.fromkeys(("flags", "filter", "operator", "parsed", "logprobs"), JSON),
            "superseded": TRUTH,
            **dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens"), WHOLE),
            "cost": MONEY,
            "call": TEXT,
            "created": MOMENT,
        },
        _messages,
    ),
    Table(
        "judgments",
        {
            **dict.fromkeys(("run", "id"), TEXT),
            "turn": WHOLE,
            **dict.fromkeys(("subject", "judge", "judge_seat"), TEXT),
            "scores": JSON,
            **dict.fromkeys(("unscored_reason", "rationale", "dynamics"), TEXT),
            "confidence": NUMBER,
            "flags": JSON,
        },
        _judgments,
    ),
    Table(
        "ballots",
        {
            **dict.fromkeys(("run", "id"), TEXT),
            **dict.fromkeys(("turn", "count"), WHOLE),
            **dict.fromkeys(("reviewer", "model"), TEXT),
            **dict.fromkeys(("labels", "order"), JSON),
            **dict.fromkeys(("abstained_reason", "reading"), TEXT),
            "flags": JSON,
            "superseded": TRUTH,
            "call": TEXT,
        },
        _ballots,
    ),
    Table(
        "battles",
        {
            "run": TEXT,
            **dict.fromkeys(("battle", "sample"), WHOLE),
            **dict.fromkeys(("seat", "left", "right", "winner"), TEXT),
            "is_consistent": TRUTH,
            "open_reason": TEXT,
            "judged": MOMENT,
        },
        _battles,
    ),
    Table(
        "executions",
        {
            **dict.fromkeys(("run", "id", "key", "purpose"), TEXT),
            "turn": WHOLE,
            **dict.fromkeys(("seat", "state", "language", "code", "entry", "comparison"), TEXT),
            **dict.fromkeys(("tests", "results"), JSON),
            "passed": WHOLE,
            **dict.fromkeys(("complaint", "backend"), TEXT),
            "is_unsafe": TRUTH,
            "seconds": NUMBER,
            **dict.fromkeys(("error_kind", "error"), TEXT),
            **dict.fromkeys(("created", "ended"), MOMENT),
        },
        _executions,
    ),
    Table(
        "calls",
        {
            **dict.fromkeys(("run", "id", "step", "seat"), TEXT),
            **dict.fromkeys(("turn", "attempt"), WHOLE),
            **dict.fromkeys(("purpose", "state", "model", "served_model", "served_provider", "prompt_version"), TEXT),
            "simulated": TRUTH,
            **dict.fromkeys(("request", "warnings"), JSON),
            **dict.fromkeys(("text", "reasoning", "finish_reason", "error_kind", "error"), TEXT),
            **dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens", "cached_input_tokens"), WHOLE),
            "cost": MONEY,
            "cost_source": TEXT,
            "sent": MOMENT,
            **dict.fromkeys(("first_byte_seconds", "seconds"), NUMBER),
        },
        _calls,
    ),
)
TABLES_BY_NAME = {table.name: table for table in TABLES}


def cells(table: Table, row: Row) -> Row:
    """The row with its columns in order: JSON as text, and nothing that is not known as anything but None."""
    return {name: _value(row.get(name), kind) for name, kind in table.columns.items()}


def _value(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == JSON:
        return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, allow_nan=False)
    if isinstance(value, UUID):
        return str(value)
    if kind == MONEY:
        return Decimal(str(value))
    if kind == MOMENT and isinstance(value, datetime):
        return value.isoformat()
    return value
