"""Tables of every kind, a few rows at a time: Parquet, JSON Lines, a JSON document, CSV. And Parquet made of JSON
lines, here because this process may use only so much.
"""

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import duckdb

from experiments.library.datasets.reader.limits import CannotRead, Limits
from experiments.library.datasets.reader.tree import suffix_of

AT_ONCE = 8  # rows that are in this process at the same time
PATTERN = re.compile(r"[*?\[]")  # a path with these signs is taken for a pattern
ROWS_OF_GROUP = 2_048  # what is held at once: a row may be a prompt of a hundred pages
LONGEST_ROW = 64 << 20
SEEN_FOR_COLUMNS = 200  # objects whose fields are the columns
CHUNK = 1 << 18  # bytes of a document that are read at once
LONGEST = 64 << 20  # bytes of a line, characters of an object of a document
DELIMITERS = (",", ";", "\t", "|")
WHITE = re.compile(r"[ \t\r\n]*")
Row = dict[str, object]


class Column(NamedTuple):
    """type: text, bytes, number, json or whatever DuckDB calls it."""

    name: str
    type: str

    @property
    def is_binary(self) -> bool:
        return "BLOB" in self.type


class Table:
    """file: what it is called in complaints. share: how far it is read, 0 to 1."""

    def __init__(self, path: Path, file: str) -> None:
        self.file, self.share = file, 0.0
        self._path, self._size = path, max(path.stat().st_size, 1)

    def rows(self, columns: list[str]) -> Iterator[Row]:
        """Each row with the values of these columns at least. Raises CannotRead."""
        raise NotImplementedError

    def columns(self) -> list[Column]:
        """Of objects, the fields of the first of them. Raises CannotRead."""
        names: dict[str, str] = {}
        for row in islice(self.rows([]), SEEN_FOR_COLUMNS):
            names |= {name: "JSON" if isinstance(value, dict | list) else "VARCHAR" for name, value in row.items()}
        return [Column(name, type_) for name, type_ in names.items()]

    def refusal(self, code: str, row: int, **facts: Any) -> CannotRead:
        return CannotRead(code, file=self.file, row=row, **facts)

    def as_row(self, value: Any, row: int) -> Row:
        if not isinstance(value, dict):
            raise self.refusal("no_object", row)
        return value

    def no_json(self, error: Exception, row: int) -> CannotRead:
        if isinstance(error, CannotRead):
            return self.refusal(error.code, row, **error.facts)
        return self.refusal("too_deep" if isinstance(error, RecursionError) else "unreadable_row", row)

    def _lines(self, file: BinaryIO) -> Iterator[str]:
        for number in count(1):
            if not (line := file.readline(LONGEST)):
                return
            if len(line) >= LONGEST:
                raise self.refusal("long_line", number, most=LONGEST)
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise self.refusal("not_utf8", number) from error


def open_table(path: Path, file: str, limits: Limits) -> Table:
    suffix = suffix_of(file)
    if suffix == ".parquet":
        return Parquet(path, file, limits)
    if suffix == ".json":
        return Document(path, file)
    return Lines(path, file) if suffix in {".jsonl", ".ndjson"} else Separated(path, file)


class Parquet(Table):
    """One file of rows in groups, of which DuckDB holds one at a time. It may open this file, and nothing else."""

    def __init__(self, path: Path, file: str, limits: Limits) -> None:
        super().__init__(path, file)
        self._named = PATTERN.sub(r"[\g<0>]", str(path))
        paths = ", ".join(_quoted(one) for one in sorted({str(path), self._named}))
        self._database = connect(limits, f"allowed_paths=[{paths}]")

    def columns(self) -> list[Column]:
        described = self._query("DESCRIBE SELECT * FROM read_parquet($path)")
        return [Column(str(row[0]), str(row[1])) for row in described]

    def rows(self, columns: list[str]) -> Iterator[Row]:
        [(total,)] = self._query("SELECT count(*) FROM read_parquet($path)")
        named = ", ".join('"' + name.replace('"', '""') + '"' for name in columns) or "1"
        found = self._query(f"SELECT {named} FROM read_parquet($path)")  # noqa: S608 - quoted
        for number, row in enumerate(found, 1):
            self.share = number / max(total, 1)
            yield dict(zip(columns, row, strict=False))

    def _query(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Raises CannotRead for whatever DuckDB cannot read."""
        cursor = self._database.cursor()
        try:
            cursor.execute(statement, {"path": self._named})
            while rows := cursor.fetchmany(AT_ONCE):
                yield from rows
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            code = "wide_groups" if self._path.suffix == ".parquet" else "needs_memory"
            raise CannotRead(code, file=self.file) from error
        except (duckdb.Error, UnicodeDecodeError, RuntimeError) as error:
            said = str(error)
            if "unicode" in said.lower() or "utf-8" in said.lower():
                raise CannotRead("not_utf8", file=self.file) from error
            # its first line, without its advice and without where the file lies here
            first = next((line.strip() for line in said.splitlines() if line.strip()), "")
            said = first.replace(str(self._path), self.file)[:300]
            raise CannotRead("unreadable_table", file=self.file, said=said) from error
        finally:
            cursor.close()


class Lines(Table):
    """JSON Lines: an object per line."""

    def rows(self, columns: list[str]) -> Iterator[Row]:
        with self._path.open("rb") as file:
            for number, line in enumerate(self._lines(file), 1):
                self.share = file.tell() / self._size
                if text := line.removeprefix("\ufeff").strip():
                    try:
                        value = DECODER.decode(text)
                    except (ValueError, RecursionError, CannotRead) as error:
                        raise self.no_json(error, number) from error
                    yield self.as_row(value, number)


class Document(Table):
    """A JSON file of any length: a list of objects, or objects one after the other, read as far as they are needed."""

    def rows(self, columns: list[str]) -> Iterator[Row]:
        with self._path.open("rb") as file:
            text = _Text(self, file)
            is_list = text.takes("[")
            for number in count(1):
                if text.is_over("]" if is_list else ""):
                    break
                yield self.as_row(text.value(number), number)
                self.share = min(file.tell() / self._size, 1)
                if is_list and not text.takes(",") and not text.is_over("]"):
                    raise self.refusal("unreadable_row", number + 1)
            if is_list and not text.takes("]"):
                raise CannotRead("cut_off", file=self.file)


class _Text:
    """What is read of a document and not yet taken."""

    def __init__(self, table: Table, file: BinaryIO) -> None:
        self._table, self._file = table, file
        self._text, self._at, self._is_last = "", 0, False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def takes(self, sign: str) -> bool:
        """Whether it comes next; then it is behind us."""
        self._skip_white()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def is_over(self, sign: str) -> bool:
        """Whether nothing more comes, or the sign that ends it."""
        self._skip_white()
        return self._at == len(self._text) or bool(sign and self._text.startswith(sign, self._at))

    def value(self, row: int) -> Any:
        """The next one. Raises CannotRead, which names this row."""
        while True:
            try:
                found, self._at = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError, CannotRead) as error:
                held = len(self._text) - self._at
                if held > LONGEST:
                    raise self._table.refusal("long_line", row, most=LONGEST) from error
                if self._is_last or not isinstance(error, ValueError):
                    raise self._table.no_json(error, row) from error
                self._read(max(CHUNK, held))
                continue
            return found

    def _skip_white(self) -> None:
        while True:
            found = WHITE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or self._is_last:
                return
            self._read(CHUNK)

    def _read(self, size: int) -> None:
        chunk = self._file.read(size)
        self._is_last = not chunk
        try:
            self._text = self._text[self._at :] + self._decoder.decode(chunk, final=self._is_last)
        except UnicodeDecodeError as error:
            raise CannotRead("not_utf8", file=self._table.file) from error
        self._at = 0


class Separated(Table):
    """CSV by RFC 4180, or with semicolons, tabs or bars between the fields. Every row has as many as the first."""

    def columns(self) -> list[Column]:
        header = next(self._records(), [])
        if len(set(header)) < len(header):
            [(twice, _times)] = Counter(header).most_common(1)
            raise CannotRead("column_twice", file=self.file, column=twice)
        return [Column(name, "VARCHAR") for name in header if name]

    def rows(self, columns: list[str]) -> Iterator[Row]:
        records = self._records()
        header = next(records, [])
        for number, record in enumerate(records, 1):
            if record and len(record) != len(header):
                raise self.refusal("ragged_row", number, found=len(record), wanted=len(header))
            if record:
                yield dict(zip(header, record, strict=True))

    def _records(self) -> Iterator[list[str]]:
        csv.field_size_limit(LONGEST)
        with self._path.open("rb") as file:
            lines = self._lines(file)
            first = next(lines, "").removeprefix("\ufeff")
            delimiter = "\t" if suffix_of(self.file) == ".tsv" else max(DELIMITERS, key=first.count)
            reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
            try:
                for record in reader:
                    self.share = file.tell() / self._size
                    yield record
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise self.refusal("odd_line_ends", reader.line_num) from error
                raise self.refusal("unreadable_line", reader.line_num, said=str(error)) from error


def _single(pairs: list[tuple[str, Any]]) -> Row:
    """An object of which no field is said twice: it would not be certain which is meant."""
    row = dict(pairs)
    if len(row) < len(pairs):
        [(twice, _times)] = Counter(name for name, _value in pairs).most_common(1)
        raise CannotRead("field_twice", column=twice[:100])
    return row


DECODER = json.JSONDecoder(object_pairs_hook=_single)


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
