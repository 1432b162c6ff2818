"""Which column is read as what: found by name, or said by a person who was shown the first rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from experiments.library.datasets.reader.card import read_card
from experiments.library.datasets.reader.cells import BYTES, is_number, jsonable
from experiments.library.datasets.reader.limits import CannotRead, Limits
from experiments.library.datasets.reader.tables import Column, Row, Table, open_table
from experiments.library.datasets.reader.tree import Chosen, Tree, pictures_of, subset_of, tables_of

PARTS: Mapping[str, tuple[str, ...]] = {
    "index": ("index", "sample_index", "idx", "id", "number"),
    "instruction": ("instruction", "prompt", "question", "text", "query", "input", "caption"),
    "images": ("input_images", "images", "image", "input_image"),
    "category": ("task_type", "category", "task", "type"),
    "source": ("prompt_source", "source", "origin"),
    "language": ("language", "lang", "locale"),
    "metadata": ("original_metadata", "metadata", "meta"),
    "subset": ("subset", "split"),
}
OUTPUT_PARTS: Mapping[str, tuple[str, ...]] = {
    "index": PARTS["index"],
    "contestant": ("contestant", "model", "model_name", "name"),
    "version": ("experiment",),
    "text": ("text", "output", "response", "answer", "completion"),
    "images": ("image", "images", "output_image"),
    "subset": PARTS["subset"],
}
CONTESTANT_PARTS: Mapping[str, tuple[str, ...]] = {
    name: (name,)
    for name in (
        *("contestant", "label", "link", "variant_of"),
        *("base_model", "released", "quantization", "upstream", "prompt"),
    )
}
PREFIXES = ("output_", "response_", "answer_")
OUTPUTS = "outputs"
PREVIEW_ROWS = 5
PREVIEW_CHARACTERS = 200  # of a cell
PREVIEW_MOST = 50  # columns, contestants and files that are named
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
    if mapped.get("index") and not any(is_number(row.get(mapped["index"])) for row in first):
        mapped["index"] = ""
    if parts is PARTS:
        free = [column.name for column in columns if column.name not in set(mapped.values())]
        named = ((name, next((len(one) for one in PREFIXES if name.lower().startswith(one)), 0)) for name in free)
        mapped[OUTPUTS] = {name[length:]: name for name, length in named if 0 < length < len(name)}
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


def preview(tree: Tree, limits: Limits) -> dict[str, object]:
    """columns, their detected parts, the first rows as texts, subsets of folders, contestants with their pictures."""
    card = read_card(tree)
    chosen = Chosen(list(card.tables), []) if card else tables_of(tree.files)
    pictures = [] if card else pictures_of(tree.files, None)
    if not chosen.tables and not pictures:
        raise CannotRead("no_samples")
    found: dict[str, Any] = {"columns": [], "mapped": {}, "rows": []}
    if chosen.tables:
        with tree.on_disk(chosen.tables[0]) as path:
            table = open_table(path, chosen.tables[0], limits)
            columns = columns_of(table, limits)[:PREVIEW_MOST]
            names = [column.name for column in columns]
            first = list(islice(table.rows(names), PREVIEW_ROWS))
            rows = [[_shown(row.get(name)) for name in names] for row in first]
            found = {"columns": [list(column) for column in columns], "mapped": detect(columns, first), "rows": rows}
    return {
        **found,
        "tables": chosen.tables[:PREVIEW_MOST],
        "ignored": chosen.ignored[:PREVIEW_MOST],
        "subsets": sorted({card.tables[name] if card else subset_of(name) for name in chosen.tables} - {""})[
            :PREVIEW_MOST
        ],
        "contestants": dict(Counter(picture.contestant for picture in pictures).most_common(PREVIEW_MOST)),
    }


def _shown(value: Any) -> str:
    """Pictures by their size, everything else by its beginning."""
    if isinstance(value, BYTES):
        return f"[{len(value)} bytes]"
    if isinstance(value, dict) and value.get("bytes"):
        return _shown(value["bytes"])
    if isinstance(value, list) and value and isinstance(value[0], dict | bytes):
        return " ".join(_shown(item) for item in value[:4])
    text = "" if value is None else str(jsonable(value))
    return text if len(text) <= PREVIEW_CHARACTERS else f"{text[:PREVIEW_CHARACTERS]}…"
