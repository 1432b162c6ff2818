"""Rows of a log, one at a time: JSON lines, a JSON list, a table in CSV or Parquet. What is none is told."""

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

import duckdb
from django.utils.translation import gettext as _

from experiments.battles.logs.lines import LINE_BYTES, Allowance, Line, lines
from experiments.battles.logs.lmarena import COLUMNS

CHUNK = 1 << 16
ROWS_AT_ONCE = 1000
TABLE_MEMORY = "256MB"
START_OF_ROW = b'{"model_a"'
DECODER = json.JSONDecoder(parse_constant=lambda name: _refuse_constant(name))
WHITE = re.compile(r"\s*")


class Row(NamedTuple):
    """number: of its line, or its place in the list or table, counted from 1. content: None for what is no row."""

    number: int
    content: Mapping[str, Any] | None
    reason: str = ""


def json_lines(file: IO[bytes], allowance: Allowance) -> Iterator[Row]:
    """Raises TooMuch."""
    for line in lines(file, allowance):
        yield from _rows(line)


def json_list(file: IO[bytes], allowance: Allowance) -> Iterator[Row]:
    """The objects of a list of any length, or one after the other. Nothing is read after a place that is no JSON."""
    text = _Text(file, allowance)
    text.skipped("[")
    number = 0
    while text.skipped(",") or not text.is_at_end("]"):
        number += 1
        try:
            content = text.value()
        except ValueError as error:
            yield Row(number, None, _("From here on this is no JSON: %(error)s.") % {"error": str(error)[:200]})
            return
        is_row = isinstance(content, dict)
        yield Row(number, content if is_row else None, "" if is_row else _("This is no object."))


def csv_rows(file: IO[bytes], allowance: Allowance) -> Iterator[Row]:
    """Raises TooMuch."""
    table = csv.reader(_table_lines(file, allowance))
    columns: list[str] = []
    number = 0
    while True:
        number += 1
        try:
            cells = next(table)
        except StopIteration:
            return
        except csv.Error as error:
            yield Row(number, None, _("This is no row of a table: %(error)s.") % {"error": str(error)[:200]})
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
        elif len(cells) != len(columns):
            counts = {"found": len(cells), "wanted": len(columns)}
            yield Row(number, None, _("The row has %(found)s cells, the head has %(wanted)s.") % counts)
        else:
            yield Row(number, dict(zip(columns, cells, strict=True)))


def parquet_rows(path: Path) -> Iterator[Row]:
    """The rows of a Parquet file, a few at a time and only the columns that count."""
    with duckdb.connect(
        config={"memory_limit": TABLE_MEMORY, "threads": 1, "autoinstall_known_extensions": False}
    ) as table:
        try:
            found = table.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(path)]).description or []
            kept = [column[0] for column in found if column[0] in COLUMNS]
            start = 0
            while part := _part(table, path, kept, start):
                yield from (
                    Row(start + place, dict(zip(kept, cells, strict=True))) for place, cells in enumerate(part, 1)
                )
                start += len(part)
        except duckdb.Error as error:
            yield Row(1, None, _("This is no Parquet: %(error)s.") % {"error": str(error).splitlines()[0][:200]})


def _part(table: duckdb.DuckDBPyConnection, path: Path, columns: list[str], start: int) -> list[tuple[Any, ...]]:
    if not columns:
        return []
    chosen = ", ".join(f'"{column}"' for column in columns)
    found = f"SELECT {chosen} FROM read_parquet(?, file_row_number = true)"  # noqa: S608 - the columns are ours
    query = f"{found} WHERE file_row_number >= ? AND file_row_number < ?"
    return table.execute(query, [str(path), start, start + ROWS_AT_ONCE]).fetchall()


def _rows(line: Line) -> Iterator[Row]:
    if line.text is None:
        yield Row(line.number, None, _("The line is longer than %(most)s MiB.") % {"most": LINE_BYTES >> 20})
        return
    content = _decoded(line.text)
    if isinstance(content, dict):
        yield Row(line.number, content)
        return
    yield Row(line.number, None, _complaint(line))
    yield from _glued(line)


def _glued(line: Line) -> Iterator[Row]:
    """A row that was appended to one that a crash had cut off: it is whole."""
    start = (line.text or b"").rfind(START_OF_ROW)
    rest = _decoded(line.text[start:]) if line.text and start > 0 else None
    if isinstance(rest, dict):
        yield Row(line.number, rest)


def _complaint(line: Line) -> str:
    if not line.is_whole:
        return _("The last line is cut off.")
    return _("This is no JSON object.")


def _decoded(text: bytes) -> Any:
    try:
        return DECODER.decode(text.decode())
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _table_lines(file: IO[bytes], allowance: Allowance) -> Iterator[str]:
    for chunk in iter(lambda: file.readline(LINE_BYTES), b""):
        allowance.spend(len(chunk))
        yield chunk.decode("utf-8-sig", errors="replace").replace("\x00", "\ufffd")


class _Text:
    """A text that is read as far as it is needed."""

    def __init__(self, file: IO[bytes], allowance: Allowance) -> None:
        self._file, self._allowance, self._text, self._at, self._is_over = file, allowance, "", 0, False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")

    def skipped(self, sign: str) -> bool:
        """Whether the sign stood next; then it is behind us."""
        self._skip_white()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def is_at_end(self, sign: str) -> bool:
        self._skip_white()
        return self._at == len(self._text) or self._text.startswith(sign, self._at)

    def value(self) -> Any:
        """The next value. Raises ValueError for what is none, or longer than a line may be."""
        self._skip_white()
        while True:
            try:
                found, self._at = DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise ValueError("nested too deeply") from error
            except ValueError:
                held = len(self._text) - self._at
                if self._is_over or held > LINE_BYTES:
                    raise
                self._read(max(CHUNK, held))
                continue
            return found

    def _skip_white(self) -> None:
        while True:
            found = WHITE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or self._is_over:
                return
            self._read(CHUNK)

    def _read(self, count: int) -> None:
        chunk = self._file.read(count)
        self._allowance.spend(len(chunk))
        self._is_over = not chunk
        self._text = self._text[self._at :] + self._decoder.decode(chunk, final=self._is_over)
        self._at = 0
