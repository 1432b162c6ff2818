"""The rows of one Parquet file as they are, for whoever knows what they mean."""

import json
from collections.abc import Collection
from pathlib import Path

from experiments.library.datasets.reader.cells import jsonable
from experiments.library.datasets.reader.columns import columns_of
from experiments.library.datasets.reader.objects import Row
from experiments.library.datasets.reader.spool import Spool
from experiments.library.datasets.reader.tables import Parquet


def write_rows(path: Path, spool: Spool, columns: Collection[str], longest: int) -> int:
    """Those of these columns that there are. longest: characters of a row; of a longer one only its number is told.

    Returns how many. Raises CannotRead.
    """
    table = Parquet(path, path.name, spool.limits)
    kept = [column.name for column in columns_of(table, spool.limits) if column.name in columns]
    number = 0
    for number, row in enumerate(table.rows(kept) if kept else (), 1):
        spool.add("row", number=number, content=_content(row, longest))
        spool.progress(table.share)
    return number


def _content(row: Row, longest: int) -> Row | None:
    if sum(len(value) for value in row.values() if isinstance(value, str)) > longest:
        return None
    content = {name: jsonable(value) for name, value in row.items()}
    return content if len(json.dumps(content, ensure_ascii=False)) <= longest else None
