"""Tables of every kind, a few rows at a time."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from experiments.library.datasets.reader import documents, duck
from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.names import suffix_of
from experiments.library.datasets.reader.objects import Row, object_of

SEEN_FOR_COLUMNS = 200  # objects whose fields are the columns
LONGEST_LINE = 64 << 20  # bytes
DELIMITERS = (",", ";", "\t", "|")


class Column(NamedTuple):
    """type: text, bytes, number, json or whatever DuckDB calls it."""

    name: str
    type: str

    @property
    def is_binary(self) -> bool:
        return "BLOB" in self.type


class Table(Protocol):
    """file: what it is called in complaints. share: how far it is read, 0 to 1."""

    file: str
    share: float

    def columns(self) -> list[Column]: ...

    def rows(self, columns: list[str]) -> Iterator[Row]:
        """Each row with the values of these columns at least. Raises CannotRead."""
        ...


def open_table(path: Path, file: str, limits: Limits) -> Table:
    suffix = suffix_of(file)
    if suffix == ".parquet":
        return Parquet(path, file, limits)
    if suffix == ".json":
        return Document(path, file)
    return Lines(path, file) if suffix in {".jsonl", ".ndjson"} else Separated(path, file)


class Parquet:
    """One file of rows in groups, of which DuckDB holds one at a time."""

    def __init__(self, path: Path, file: str, limits: Limits) -> None:
        self.file, self.share = file, 0.0
        self._query = duck.Query(path, file, limits)

    def columns(self) -> list[Column]:
        described = self._query.rows("DESCRIBE SELECT * FROM read_parquet($path)")
        return [Column(str(row[0]), str(row[1])) for row in described]

    def rows(self, columns: list[str]) -> Iterator[Row]:
        [(total,)] = self._query.rows("SELECT count(*) FROM read_parquet($path)")
        named = ", ".join('"' + name.replace('"', '""') + '"' for name in columns) or "1"
        found = self._query.rows(f"SELECT {named} FROM read_parquet($path)")  # noqa: S608 - quoted
        for number, row in enumerate(found, 1):
            self.share = number / max(total, 1)
            yield dict(zip(columns, row, strict=False))


class Document(documents.Document):
    """A JSON file: a list of objects, or objects one after the other."""

    def columns(self) -> list[Column]:
        return _fields(self.objects())

    def rows(self, columns: list[str]) -> Iterator[Row]:
        yield from self.objects()


class Lines:
    """JSON Lines: an object per line."""

    def __init__(self, path: Path, file: str) -> None:
        self.file, self.share = file, 0.0
        self._path = path

    def columns(self) -> list[Column]:
        return _fields(self.rows([]))

    def rows(self, columns: list[str]) -> Iterator[Row]:
        with self._path.open("rb") as file:
            size = max(self._path.stat().st_size, 1)
            for number, line in enumerate(_lines(file, self.file), 1):
                self.share = file.tell() / size
                text = line.removeprefix("\ufeff").strip()
                if text:
                    yield object_of(text, self.file, number)


class Separated:
    """CSV by RFC 4180, or with semicolons, tabs or bars between the fields. Every row has as many as the first."""

    def __init__(self, path: Path, file: str) -> None:
        self.file, self.share = file, 0.0
        self._path = path

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
            if not record:
                continue
            if len(record) != len(header):
                facts = {"found": len(record), "wanted": len(header)}
                raise CannotRead("ragged_row", file=self.file, row=number, **facts)
            yield dict(zip(header, record, strict=True))

    def _records(self) -> Iterator[list[str]]:
        csv.field_size_limit(LONGEST_LINE)
        with self._path.open("rb") as file:
            size = max(self._path.stat().st_size, 1)
            lines = _lines(file, self.file)
            first = next(lines, "").removeprefix("\ufeff")
            reader = csv.reader(_chained(first, lines), delimiter=_delimiter(self.file, first), strict=True)
            try:
                for record in reader:
                    self.share = file.tell() / size
                    yield record
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise CannotRead("odd_line_ends", file=self.file, row=reader.line_num) from error
                said = {"file": self.file, "row": reader.line_num, "said": str(error)}
                raise CannotRead("unreadable_line", **said) from error


def _chained(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _delimiter(name: str, header: str) -> str:
    if suffix_of(name) == ".tsv":
        return "\t"
    return max(DELIMITERS, key=header.count)


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE:
            raise CannotRead("long_line", file=name, row=number, most=LONGEST_LINE)
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise CannotRead("not_utf8", file=name, row=number) from error


def _fields(rows: Iterator[Row]) -> list[Column]:
    names: dict[str, str] = {}
    for _number, row in zip(range(SEEN_FOR_COLUMNS), rows, strict=False):
        names |= {name: "JSON" if isinstance(value, dict | list) else "VARCHAR" for name, value in row.items()}
    return [Column(name, type_) for name, type_ in names.items()]
