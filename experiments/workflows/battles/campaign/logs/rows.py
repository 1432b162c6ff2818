"""Rows of a log, one at a time: JSON lines, a JSON list, a table in CSV or Parquet. What is none is told."""

import codecs
import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from django.conf import settings
from django.utils.translation import gettext as _

from experiments.library.datasets import process
from experiments.library.datasets.records import RECORDS
from experiments.library.imports.files import LINE_BYTES, Allowance, Line, lines
from experiments.workflows.battles.campaign.logs.lmarena import COLUMNS

CHUNK = 1 << 16
START_OF_ROW = b'{"model_a"'
DECODER = json.JSONDecoder(parse_constant=lambda name: _refuse_constant(name))
WHITE = re.compile(r"\s*")


class Row(NamedTuple):
    """number: of its line, or its place in the list or table, counted from 1. content: None for what is no row."""

    number: int
    content: Mapping[str, Any] | None
    reason: str = ""


def json_lines(file: IO[bytes], allowance: Allowance) -> Iterator[Row]:
    """Raises TooLarge."""
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
    """Raises TooLarge."""
    csv.field_size_limit(LINE_BYTES)  # a cell may hold a whole conversation
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


def parquet_rows(path: Path, allowance: Allowance, alive: Callable[[], None]) -> Iterator[Row]:
    """The rows of a Parquet file, of the columns that count: taken out of it by the limited process, since no reader of
    this format withstands every file. alive: called now and then while that goes on. Raises TooLarge.
    """
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        orders: dict[str, Any] = {"columns": COLUMNS, "longest": LINE_BYTES}
        try:
            process.read(path, spool, what="rows", heard=lambda _share: alive(), **orders)
        except process.Refused as refused:
            yield Row(1, None, _("This is no Parquet that can be read: %(error)s") % {"error": str(refused)[:250]})
            return
        handle = os.open(spool / RECORDS, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            for line in lines(file, allowance):
                told = _decoded(line.text or b"")
                content = told.get("content") if isinstance(told, dict) else None
                is_row = isinstance(content, dict)
                yield Row(line.number, content if is_row else None, "" if is_row else _too_long())


def _rows(line: Line) -> Iterator[Row]:
    if line.text is None:
        yield Row(line.number, None, _too_long())
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


def _too_long() -> str:
    return _("The line is longer than %(most)s MiB.") % {"most": LINE_BYTES >> 20}


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
