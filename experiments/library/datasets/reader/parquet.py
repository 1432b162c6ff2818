"""Tables that lie there as lines of JSON become Parquet. Here, because this process may use only so much."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits

ROWS_OF_GROUP = 2_048  # what is held at once: a row may be a prompt of a hundred pages
LONGEST_ROW = 64 << 20


def write_parquet(folder: Path, tables: Mapping[str, Mapping[str, str]], limits: Limits) -> dict[str, int]:
    """NAME.parquet beside each NAME.jsonl. tables: columns to types of DuckDB, by name. Returns rows by name. Raises
    CannotRead.
    """
    database = _connect(folder, limits)
    try:
        return {name: _write(database, folder, name, columns) for name, columns in tables.items()}
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise CannotRead("needs_memory") from error
    except duckdb.Error as error:
        first = next(iter(str(error).splitlines()), "")
        raise CannotRead("unreadable_table", file="parquet", said=first.replace(str(folder), "")[:300]) from error


def _write(database: duckdb.DuckDBPyConnection, folder: Path, name: str, columns: Mapping[str, str]) -> int:
    told = ", ".join(f"{_quoted(column)}: {_quoted(kind)}" for column, kind in columns.items())
    reading = (
        f"read_json({_quoted(str(folder / f'{name}.jsonl'))}, format='newline_delimited', "
        f"columns={{{told}}}, maximum_object_size={LONGEST_ROW})"
    )
    to = _quoted(str(folder / f"{name}.parquet"))
    options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS_OF_GROUP}"
    row = database.execute(f"COPY (FROM {reading}) TO {to} ({options})").fetchone()
    return int(row[0]) if row else 0


def _connect(folder: Path, limits: Limits) -> duckdb.DuckDBPyConnection:
    """It may read and write in this folder, and nowhere else."""
    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": f"{limits.memory >> 20}MiB"})
    for setting in (
        "TimeZone='UTC'",
        "enable_progress_bar=false",  # it would be drawn into what this process has to say
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "temp_directory=''",
        f"allowed_directories=[{_quoted(str(folder))}]",
        "enable_external_access=false",
        "lock_configuration=true",
    ):
        database.execute(f"SET {setting}")
    return database


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
