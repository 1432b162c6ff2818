"""DuckDB in the limited process: reads the one file that it is given, and makes Parquet of tables of JSON lines."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from experiments.library.datasets.reader.limits import CannotRead, Limits

AT_ONCE = 8  # rows that are in this process at the same time
PATTERN = re.compile(r"[*?\[]")  # a path with these signs is taken for a pattern
ROWS_OF_GROUP = 2_048  # what is held at once: a row may be a prompt of a hundred pages
LONGEST_ROW = 64 << 20


def connect(limits: Limits, *allowed: str) -> duckdb.DuckDBPyConnection:
    """A database that may open nothing but what these settings allow."""
    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": f"{limits.memory >> 20}MiB"})
    for setting in (
        "enable_progress_bar=false",  # it would be drawn into what this process has to say
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "temp_directory=''",
        *allowed,
        "enable_external_access=false",
        "lock_configuration=true",
    ):
        database.execute(f"SET {setting}")
    return database


class Query:
    """Questions about one file, called $path in them. file: what it is called in complaints."""

    def __init__(self, path: Path, file: str, limits: Limits) -> None:
        self._path, self._file = str(path), file
        self._named = PATTERN.sub(r"[\g<0>]", self._path)
        paths = ", ".join(_quoted(path) for path in sorted({self._path, self._named}))
        self._database = connect(limits, f"allowed_paths=[{paths}]")

    def rows(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Raises CannotRead for whatever DuckDB cannot read."""
        cursor = self._database.cursor()
        try:
            cursor.execute(statement, {"path": self._named})
            while rows := cursor.fetchmany(AT_ONCE):
                yield from rows
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            code = "wide_groups" if self._path.endswith(".parquet") else "needs_memory"
            raise CannotRead(code, file=self._file) from error
        except (duckdb.Error, UnicodeDecodeError, RuntimeError) as error:
            said = str(error)
            if "unicode" in said.lower() or "utf-8" in said.lower():
                raise CannotRead("not_utf8", file=self._file) from error
            # its first line, without its advice and without where the file lies here
            first = next((line.strip() for line in said.splitlines() if line.strip()), "")
            said = first.replace(self._path, self._file)[:300]
            raise CannotRead("unreadable_table", file=self._file, said=said) from error
        finally:
            cursor.close()


def write_parquet(folder: Path, tables: Mapping[str, Mapping[str, str]], limits: Limits) -> dict[str, int]:
    """NAME.parquet beside each NAME.jsonl. tables: columns to types of DuckDB, by name. Returns rows by name. Raises
    CannotRead.
    """
    database = connect(limits, "TimeZone='UTC'", f"allowed_directories=[{_quoted(folder)}]")
    rows: dict[str, int] = {}
    try:
        for name, columns in tables.items():
            described = ", ".join(f"{_quoted(column)}: {_quoted(kind)}" for column, kind in columns.items())
            reading = (
                f"read_json({_quoted(folder / f'{name}.jsonl')}, format='newline_delimited', "
                f"columns={{{described}}}, maximum_object_size={LONGEST_ROW})"
            )
            options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROWS_OF_GROUP}"
            copied = f"COPY (FROM {reading}) TO {_quoted(folder / f'{name}.parquet')} ({options})"
            count = database.execute(copied).fetchone()
            rows[name] = int(count[0]) if count else 0
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise CannotRead("needs_memory") from error
    except duckdb.Error as error:
        first = next(iter(str(error).splitlines()), "")
        raise CannotRead("unreadable_table", file="parquet", said=first.replace(str(folder), "")[:300]) from error
    return rows


def _quoted(text: str | Path) -> str:
    return "'" + str(text).replace("'", "''") + "'"
