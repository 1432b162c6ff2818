"""DuckDB as a reader: it may open the one file that it is given, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits

AT_ONCE = 8  # rows that are in this process at the same time
PATTERN = re.compile(r"[*?\[]")  # a path with these signs is taken for a pattern


class Query:
    """Questions about one file, called $path in them. file: what it is called in complaints."""

    def __init__(self, path: Path, file: str, limits: Limits) -> None:
        self._path, self._file = str(path), file
        self._named = PATTERN.sub(r"[\g<0>]", self._path)
        self._database = _connect({self._path, self._named}, limits)

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
            raise self._unreadable(str(error)) from error
        finally:
            cursor.close()

    def _unreadable(self, said: str) -> CannotRead:
        """What DuckDB says, without its advice and without where the file lies here."""
        first = next((line.strip() for line in said.splitlines() if line.strip()), "")
        if "unicode" in said.lower() or "utf-8" in said.lower():
            return CannotRead("not_utf8", file=self._file)
        return CannotRead("unreadable_table", file=self._file, said=first.replace(self._path, self._file)[:300])


def _connect(paths: set[str], limits: Limits) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect(":memory:", config={"threads": 1, "memory_limit": f"{limits.memory >> 20}MiB"})
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in sorted(paths))
    for setting in (
        "enable_progress_bar=false",  # it would be drawn into what this process has to say
        "autoinstall_known_extensions=false",
        "autoload_known_extensions=false",
        "temp_directory=''",
        f"allowed_paths=[{quoted}]",
        "enable_external_access=false",
        "lock_configuration=true",
    ):
        database.execute(f"SET {setting}")
    return database
