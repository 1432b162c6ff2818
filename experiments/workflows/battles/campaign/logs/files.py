"""What logs are read from: a folder, a zip or a single file; which of its files are logs of battles, and their rows.

A row is an object of JSON lines or of a JSON list, or a line of a table in CSV or Parquet. What is none is told.
"""

import codecs
import csv
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, NoReturn

from django.conf import settings
from django.utils.translation import gettext as _

from experiments.library.datasets import process
from experiments.library.datasets.records import RECORDS
from experiments.library.imports.files import LINE_BYTES, Allowance, lines, refuse_endless_directory
from experiments.library.imports.values import Unreadable

LOGS, AUDITS, SNAPSHOT = "pk_logs", "raw_outputs", "elo_snapshot.json"
BESIDE = "arena"  # the folder of what stands beside the logs
WHOLE = f"{BESIDE}/battles.jsonl"  # of a folder that was exported here: every battle, so that no other log is read
MILESTONES = "milestones.json"
OF_HUB = "data/battles.parquet"  # of a folder for the Hub that was exported here, whose other tables are no logs
ENDINGS = (".jsonl", ".json", ".csv", ".parquet")
NOT_LOGS = ("config.json", "state.json", "config_history.json", "croissant.json", SNAPSHOT, MILESTONES)
MOST_FILES = 60_000
DATED = re.compile(r"_(\d{4})(\d{2})(\d{2})$")
CHUNK = 1 << 16
START_OF_ROW = b'{"model_a"'
WHITE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Source:
    """A file. name: its path. subset: None where none is told. path: where it lies, None within a zip."""

    name: str
    open: Callable[[], IO[bytes]]
    path: Path | None = None
    experiment: str = ""
    subset: str | None = None
    is_audit: bool = False

    @property
    def ending(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @contextmanager
    def on_disk(self, allowance: Allowance) -> Iterator[Path]:
        """The file, or for as long as it is read a copy of what is within a zip. Raises TooLarge."""
        if self.path is not None:
            yield self.path
            return
        with process.spool_in(Path(settings.UPLOADS_DIR)) as folder:
            copy = folder / f"table{self.ending}"
            with self.open() as file, copy.open("wb") as kept:
                for chunk in iter(lambda: file.read(CHUNK), b""):
                    allowance.spend(len(chunk))
                    kept.write(chunk)
            yield copy

    @property
    def is_snapshot(self) -> bool:
        return PurePosixPath(self.name).name == SNAPSHOT

    @property
    def is_milestones(self) -> bool:
        return PurePosixPath(self.name).match(f"{BESIDE}/{MILESTONES}")


def _source(name: str, opener: Callable[[], IO[bytes]], path: Path | None = None) -> Source:
    """What a path says: <subset>/pk_logs/<experiment>/[raw_outputs/]<a>_vs_<b>.jsonl"""
    *folders, _file = PurePosixPath(name).parts
    if LOGS not in folders:
        return Source(name, opener, path, is_audit=AUDITS in folders)
    at = len(folders) - 1 - folders[::-1].index(LOGS)
    inside = folders[at + 1 :]
    experiment = inside[0] if inside and inside[0] != AUDITS else ""
    return Source(name, opener, path, experiment, folders[at - 1][:100] if at else "", AUDITS in inside)


@contextmanager
def opened(path: Path, name: str = "") -> Iterator[list[Source]]:
    """The files that matter, in the sequence of experiments, and of a pair first the log that tells more. name: what
    the file was called, where path says something else. Raises Unreadable.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
        yield _chosen([_source(file.relative_to(path).as_posix(), _opener(file), file) for file in files])
    elif zipfile.is_zipfile(path):
        refuse_endless_directory(path)
        try:
            with zipfile.ZipFile(path) as archive:
                members = [entry for entry in archive.infolist() if not entry.is_dir()]
                yield _chosen([_source(entry.filename, partial(_member, archive, entry)) for entry in members])
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
            raise Unreadable(_("The zip cannot be read: %(error)s.") % {"error": error}) from error
    elif path.is_file():
        yield _chosen([_source(name or path.name, _opener(path), path)])
    else:
        raise Unreadable(_("There is no such file or folder."))


def date_of(experiment: str) -> date | None:
    """The day that an experiment's name ends in, "name_yyyymmdd"; None when there is no such day."""
    found = DATED.search(experiment)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _chosen(found: list[Source]) -> list[Source]:
    """Raises Unreadable when nothing is left."""
    logs = [source for source in found if _is_log(PurePosixPath(source.name))]
    if whole := [source for source in logs if PurePosixPath(source.name).match(WHOLE)]:
        logs = [source for source in logs if source in whole or source.is_snapshot]
    elif of_hub := [source for source in logs if PurePosixPath(source.name).match(OF_HUB)]:
        logs = of_hub
    elif any(LOGS in PurePosixPath(source.name).parts for source in logs):
        logs = [source for source in logs if LOGS in PurePosixPath(source.name).parts]
    if all(source.is_snapshot for source in logs):
        raise Unreadable(_("There are no logs in it. Files ending in .jsonl, .json, .csv or .parquet are read."))
    if len(logs) > MOST_FILES:
        raise Unreadable(_("There are more than %(most)s files in it. Send them in parts.") % {"most": MOST_FILES})
    return sorted([*logs, *(source for source in found if source.is_milestones)], key=_place)


def _is_log(path: PurePosixPath) -> bool:
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    is_wanted = path.name == SNAPSHOT or (path.suffix.lower() in ENDINGS and path.name not in NOT_LOGS)
    return is_wanted and not is_hidden


def _place(source: Source) -> tuple[str, date, str, str, bool]:
    day = date_of(source.experiment) or date.min
    return (source.subset or "", day, source.experiment, PurePosixPath(source.name).name, not source.is_audit)


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    if entry.flag_bits & 1:
        raise Unreadable(_("%(name)s is encrypted. Send it without a password.") % {"name": entry.filename})
    return archive.open(entry)


# --- rows ---


class Row(NamedTuple):
    """number: of its line, or its place in the list or table, counted from 1. content: None for what is no row."""

    number: int
    content: Mapping[str, Any] | None
    reason: str = ""


def json_lines(file: IO[bytes], allowance: Allowance) -> Iterator[Row]:
    """Raises TooLarge."""
    for line in lines(file, allowance):
        if line.text is None:
            yield Row(line.number, None, _too_long())
            continue
        content = _decoded(line.text)
        if isinstance(content, dict):
            yield Row(line.number, content)
            continue
        yield Row(
            line.number, None, _("This is not a JSON object.") if line.is_whole else _("The last line is cut off.")
        )
        start = line.text.rfind(START_OF_ROW)  # a row that was appended to one that a crash had cut off: it is whole
        rest = _decoded(line.text[start:]) if start > 0 else None
        if isinstance(rest, dict):
            yield Row(line.number, rest)


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
            yield Row(number, None, _("From here on this is not JSON: %(error)s.") % {"error": str(error)[:200]})
            return
        is_row = isinstance(content, dict)
        yield Row(number, content if is_row else None, "" if is_row else _("This is not an object."))


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
            yield Row(number, None, _("This is not a row of a table: %(error)s.") % {"error": str(error)[:200]})
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
        elif len(cells) != len(columns):
            counts = {"found": len(cells), "wanted": len(columns)}
            yield Row(number, None, _("The row has %(found)s cells, the header has %(wanted)s.") % counts)
        else:
            yield Row(number, dict(zip(columns, cells, strict=True)))


def _table_lines(file: IO[bytes], allowance: Allowance) -> Iterator[str]:
    for chunk in iter(lambda: file.readline(LINE_BYTES), b""):
        allowance.spend(len(chunk))
        yield chunk.decode("utf-8-sig", errors="replace").replace("\x00", "\ufffd")


def parquet_rows(path: Path, allowance: Allowance, columns: Sequence[str], alive: Callable[[], None]) -> Iterator[Row]:
    """The rows of a Parquet file, of the columns that count: taken out of it by the limited process, since no reader of
    this format withstands every file. alive: called now and then while that goes on. Raises TooLarge.
    """
    with process.spool_in(Path(settings.UPLOADS_DIR)) as spool:
        orders: dict[str, Any] = {"columns": columns, "longest": LINE_BYTES}
        try:
            process.read(path, spool, what="rows", heard=lambda _share: alive(), **orders)
        except process.Refused as refused:
            yield Row(1, None, _("This Parquet file cannot be read: %(error)s") % {"error": str(refused)[:250]})
            return
        handle = os.open(spool / RECORDS, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            for line in lines(file, allowance):
                told = _decoded(line.text or b"")
                content = told.get("content") if isinstance(told, dict) else None
                is_row = isinstance(content, dict)
                yield Row(line.number, content if is_row else None, "" if is_row else _too_long())


def _too_long() -> str:
    return _("The line is longer than %(most)s MiB.") % {"most": LINE_BYTES >> 20}


def _decoded(text: bytes) -> Any:
    try:
        return DECODER.decode(text.decode())
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


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
