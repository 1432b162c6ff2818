"""The first rows of an upload, and how they would be read."""

from collections import Counter
from itertools import islice
from typing import Any

from experiments.library.datasets.reader.cells import jsonable
from experiments.library.datasets.reader.choosing import pictures_of, tables_of
from experiments.library.datasets.reader.columns import columns_of, detect
from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.names import subset_of
from experiments.library.datasets.reader.tables import open_table
from experiments.library.datasets.reader.trees import Tree

ROWS = 5
LONGEST = 200  # characters of a cell
MOST = 50  # columns, contestants and files that are named


def preview(tree: Tree, limits: Limits) -> dict[str, object]:
    """columns, their detected parts, the first rows as texts, subsets of folders, contestants with their pictures."""
    chosen = tables_of(tree.files)
    pictures = pictures_of(tree.files, None)
    if not chosen.tables and not pictures:
        raise CannotRead("no_samples")
    found: dict[str, Any] = {"columns": [], "mapped": {}, "rows": []}
    if chosen.tables:
        with tree.on_disk(chosen.tables[0]) as path:
            table = open_table(path, chosen.tables[0], limits)
            columns = columns_of(table, limits)[:MOST]
            names = [column.name for column in columns]
            first = list(islice(table.rows(names), ROWS))
            mapped = detect(columns, first)
            rows = [[_shown(row.get(name)) for name in names] for row in first]
            found = {"columns": [list(column) for column in columns], "mapped": mapped, "rows": rows}
    return {
        **found,
        "tables": chosen.tables[:MOST],
        "ignored": chosen.ignored[:MOST],
        "subsets": sorted({subset_of(name) for name in chosen.tables} - {""})[:MOST],
        "contestants": dict(Counter(picture.contestant for picture in pictures).most_common(MOST)),
    }


def _shown(value: Any) -> str:
    """Pictures by their size, everything else by its beginning."""
    if isinstance(value, bytes | bytearray | memoryview):
        return f"[{len(value)} bytes]"
    if isinstance(value, dict) and value.get("bytes"):
        return _shown(value["bytes"])
    if isinstance(value, list) and value and isinstance(value[0], dict | bytes):
        return " ".join(_shown(item) for item in value[:4])
    text = "" if value is None else str(jsonable(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
