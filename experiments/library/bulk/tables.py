"""Runs as tables: the same rows for CSV and Parquet, with the type of each column.

Columns are added at the end and never renamed: programs read them by name.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from rest_framework.serializers import Serializer
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


def _battles(run: Run) -> Iterator[Row]:
    """As this run judged them: what became of them later stands on their board."""
    for step in each(run.steps.filter(purpose="battle_judged").order_by("id")):
        names = {side: step.data.get(f"{side}_name") for side in ("left", "right")}
        yield {**step.data, **names, "run": run.pk, "judged": step.ended}


def _serialized(serializer: type[Serializer[Any]], found: Callable[[Run], Any]) -> Callable[[Run], Iterator[Row]]:
    def rows(run: Run) -> Iterator[Row]:
        shown = serializer()
        return ({**shown.to_representation(one), "run": run.pk} for one in each(found(run)))

    return rows


def _columns(*groups: tuple[str, str]) -> dict[str, str]:
    """Of each group the type, and the names in a row."""
    return {name: kind for kind, names in groups for name in names.split()}


TABLES = (
    Table(
        "runs",
        _columns(
            (TEXT, "id experiment workflow title state mode origin owner parent branched_from"),
            (WHOLE, "seed turn input_tokens output_tokens reasoning_tokens calls"),
            (MONEY, "cost"),
            (TEXT, "stop_reason error"),
            (MOMENT, "created started ended"),
            (JSON, "config cast"),
        ),
        _runs,
    ),
    Table(
        "messages",
        _columns(
            (TEXT, "run id"),
            (WHOLE, "turn"),
            (TEXT, "seat purpose model text raw_text reasoning finish_reason"),
            (JSON, "flags filter operator parsed logprobs"),
            (TRUTH, "superseded"),
            (WHOLE, "input_tokens output_tokens reasoning_tokens"),
            (MONEY, "cost"),
            (TEXT, "call"),
            (MOMENT, "created"),
        ),
        _messages,
    ),
    Table(
        "judgments",
        _columns(
            (TEXT, "run id"),
            (WHOLE, "turn"),
            (TEXT, "subject judge judge_seat"),
            (JSON, "scores"),
            (TEXT, "unscored_reason rationale dynamics"),
            (NUMBER, "confidence"),
            (JSON, "flags"),
        ),
        _serialized(JudgmentSerializer, lambda run: run.judgments.all()),
    ),
    Table(
        "ballots",
        _columns(
            (TEXT, "run id"),
            (WHOLE, "turn count"),
            (TEXT, "reviewer model"),
            (JSON, "labels order"),
            (TEXT, "abstained_reason reading"),
            (JSON, "flags"),
            (TRUTH, "superseded"),
            (TEXT, "call"),
        ),
        _serialized(BallotSerializer, ballots),
    ),
    Table(
        "battles",
        _columns(
            (TEXT, "run"),
            (WHOLE, "battle sample"),
            (TEXT, "seat left right winner"),
            (TRUTH, "is_consistent"),
            (TEXT, "open_reason"),
            (MOMENT, "judged"),
        ),
        _battles,
    ),
    Table(
        "executions",
        _columns(
            (TEXT, "run id key purpose"),
            (WHOLE, "turn"),
            (TEXT, "seat state language code entry comparison"),
            (JSON, "tests results"),
            (WHOLE, "passed"),
            (TEXT, "complaint backend"),
            (TRUTH, "is_unsafe"),
            (NUMBER, "seconds"),
            (TEXT, "error_kind error"),
            (MOMENT, "created ended"),
        ),
        _serialized(ExecutionSerializer, executions),
    ),
    Table(
        "calls",
        _columns(
            (TEXT, "run id step seat"),
            (WHOLE, "turn attempt"),
            (TEXT, "purpose state model served_model served_provider prompt_version"),
            (TRUTH, "simulated"),
            (JSON, "request warnings"),
            (TEXT, "text reasoning finish_reason error_kind error"),
            (WHOLE, "input_tokens output_tokens reasoning_tokens cached_input_tokens"),
            (MONEY, "cost"),
            (TEXT, "cost_source"),
            (MOMENT, "sent"),
            (NUMBER, "first_byte_seconds seconds"),
        ),
        _serialized(CallSerializer, lambda run: run.calls.select_related("step", "model__provider").order_by("id")),
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
