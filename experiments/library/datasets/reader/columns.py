"""Which column is read as what: found by name, or said by somebody."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from experiments.library.datasets.reader.cells import is_number
from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.objects import Row
from experiments.library.datasets.reader.tables import Column, Table

PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("index", "sample_index", "idx", "id", "number"),
    "instruction": ("instruction", "prompt", "question", "text", "query", "input", "caption"),
    "images": ("input_images", "images", "image", "input_image"),
    "category": ("task_type", "category", "task", "type"),
    "source": ("prompt_source", "source", "origin"),
    "metadata": ("original_metadata", "metadata", "meta"),
    "subset": ("subset", "split"),
}
OUTPUT_PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("index", "sample_index", "idx", "id", "number"),
    "contestant": ("contestant", "model", "model_name", "name"),
    "text": ("text", "output", "response", "answer", "completion"),
    "images": ("image", "images", "output_image"),
    "subset": ("subset", "split"),
}
PREFIXES = ("output_", "response_", "answer_")
OUTPUTS = "outputs"
Mapped = dict[str, Any]


def columns_of(table: Table, limits: Limits) -> list[Column]:
    """Raises CannotRead, also for more of them than anybody would look through."""
    columns = table.columns()
    if len(columns) > limits.columns:
        raise CannotRead("many_columns", file=table.file, most=limits.columns)
    return columns


def detect(columns: Sequence[Column], first: Iterable[Row], parts: Mapping[str, tuple[str, ...]] = PARTS) -> Mapped:
    """A column for each part, "" where none fits; under "outputs" the columns that look like contestants' answers.

    Where the numbers are names throughout, the rows are counted instead.
    """
    names = {column.name.strip().lower(): column.name for column in reversed(columns)}
    mapped: Mapped = {}
    for part, known in parts.items():
        mapped[part] = next((names[name] for name in known if name in names), "")
    rows = list(first)
    if mapped["index"] and not any(is_number(row.get(mapped["index"])) for row in rows):
        mapped["index"] = ""
    if parts is PARTS:
        taken = set(mapped.values())
        mapped[OUTPUTS] = {
            name: column.name for column in columns if column.name not in taken and (name := _named_after(column.name))
        }
    return mapped


def settled(asked: Mapping[str, Any], detected: Mapped, columns: Sequence[Column], file: str) -> Mapped:
    """What was asked for, and what was found where nothing was. Raises CannotRead for a column that is not there."""
    mapped = {**detected, **{part: value for part, value in asked.items() if part in detected}}
    outputs = mapped.get(OUTPUTS) or {}
    known = {column.name for column in columns}
    for part, name in [*mapped.items(), *((OUTPUTS, name) for name in outputs.values())]:
        if isinstance(name, str) and name and name not in known:
            listed = ", ".join(column.name for column in columns[:12])
            raise CannotRead("no_column", file=file, column=name, part=part, columns=listed)
    return mapped


def used(mapped: Mapped) -> set[str]:
    """The names of the columns that are read as something."""
    outputs = mapped.get(OUTPUTS) or {}
    return {name for name in (*mapped.values(), *outputs.values()) if isinstance(name, str) and name}


def _named_after(column: str) -> str:
    lowered = column.lower()
    return next((column[len(prefix) :] for prefix in PREFIXES if lowered.startswith(prefix)), "")
