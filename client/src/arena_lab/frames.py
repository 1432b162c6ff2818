"""Records as tables for pandas: one row each, and of judgments one row per score."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

from arena_lab.errors import NotSetUp
from arena_lab.records import Judgment, Message, Record, Run
from arena_lab.records.base import fields_of

if TYPE_CHECKING:
    import pandas as pd


def to_dataframe(records: Iterable[Record], **columns: Any) -> "pd.DataFrame":
    """columns: put in front of every row, such as the run. Money becomes a float: a frame is for statistics, the exact
    amounts are in the records. Raises NotSetUp without pandas.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise NotSetUp("to_dataframe needs pandas: pip install 'arena-lab-client[pandas]'.") from error
    frame: pd.DataFrame = pandas.DataFrame([{**columns, **row} for record in records for row in tidy(record)])
    return frame


def tidy(record: Record) -> Iterator[dict[str, Any]]:
    """The rows of a record, their cells plain values."""
    rows = _ROWS.get(type(record), lambda one: [_flat(one)])
    yield from rows(record)


def _run(run: Run) -> Iterable[dict[str, Any]]:
    row = {name: value for name, value in _flat(run).items() if not name.startswith(("waiting_for", "offer"))}
    return [{**row, "waiting_for": run.waiting_for.key if run.waiting_for else None}]


def _message(message: Message) -> Iterable[dict[str, Any]]:
    return [{name: value for name, value in _flat(message).items() if name != "logprobs"}]


def _judgment(judgment: Judgment) -> Iterable[dict[str, Any]]:
    """One row per score; one without a measure when there are no scores, with the reason."""
    row = {name: value for name, value in _flat(judgment).items() if not name.startswith("scores")}
    scores = dict(_leaves(judgment.scores or {}))
    if not scores:
        return [{**row, "measure": None, "score": None}]
    return [{**row, "measure": measure, "score": score} for measure, score in scores.items()]


_ROWS: dict[type[Record], Callable[[Any], Iterable[dict[str, Any]]]] = {
    Run: _run,
    Message: _message,
    Judgment: _judgment,
}


def _flat(record: Record, before: str = "") -> dict[str, Any]:
    """Records in records become columns of their own (`usage_input_tokens`); lists stay as they are."""
    row: dict[str, Any] = {}
    for name, kind in fields_of(type(record)).items():
        value, inner = getattr(record, name), _record_in(kind)
        if isinstance(value, Record):
            row |= _flat(value, f"{before}{name}_")
        elif inner:
            row |= {f"{before}{name}_{column}": None for column in fields_of(inner)}
        else:
            row[before + name] = _cell(value)
    return row | {before + name: value for name, value in record.extra.items()}


def _record_in(kind: Any) -> type[Record] | None:
    return next((one for one in get_args(kind) if isinstance(one, type) and issubclass(one, Record)), None)


def _cell(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, tuple):
        return [one.to_json() if isinstance(one, Record) else one for one in value]
    return value


def _leaves(scores: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in scores.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield before + name, value
