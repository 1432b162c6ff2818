"""The formats of bulk exports: what each is called, and how it is written, with no more than one run held at once. Each
part of a file is counted and hashed on its way, for the manifest.
"""

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.csv_cells import BOM, csv_line
from experiments.library.bulk import tables
from experiments.library.datasets import process
from experiments.models import Run
from experiments.runs.reports.document import document, each, encoded, message_rows
from experiments.runs.reports.inspect_log import inspect_log, log_name
from experiments.runs.zipping import entry
from experiments.workflows.shards import is_sharded

AT_ONCE = 1 << 20
MANIFEST = "manifest.json"
TYPES = {
    tables.TEXT: "VARCHAR",
    tables.JSON: "VARCHAR",
    tables.WHOLE: "BIGINT",
    tables.NUMBER: "DOUBLE",
    tables.MONEY: "DECIMAL(20,10)",
    tables.TRUTH: "BOOLEAN",
    tables.MOMENT: "TIMESTAMPTZ",
}
Parts = list[dict[str, object]]
Write = Callable[[Iterator[Run], Path, Path], Parts]


@dataclass(frozen=True, slots=True)
class BulkFormat:
    """write: runs with totals, one after the other, into the file; in the folder it may put what it needs meanwhile.
    It gives what it wrote, part by part, for the manifest. returns: whether it can be imported again.
    """

    name: str
    label: str | Promise
    hint: str | Promise
    content_type: str
    ending: str
    write: Write
    returns: bool = False


class Part:
    """One table or list of the export, being written. count: its rows; sha256, size: of its bytes so far."""

    def __init__(self, name: str, file: IO[bytes]) -> None:
        self.name, self.count, self.size = name, 0, 0
        self._file, self._hash = file, hashlib.sha256()

    def write(self, data: bytes, rows: int = 0) -> None:
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)
        self.count += rows

    def told(self) -> dict[str, object]:
        return {"name": self.name, "rows": self.count, "size": self.size, "sha256": self._hash.hexdigest()}


def _documents(runs: Iterator[Run], path: Path, folder: Path) -> Parts:
    """As the report in JSON; of part of a campaign with its battles, which stand on a board of many runs."""

    def rows(run: Run) -> list[dict[str, object]]:
        battles = tables.TABLES_BY_NAME["battles"].rows
        shards = {"battles": list(battles(run))} if is_sharded(run.experiment.workflow) else {}
        return [{**document(run), **shards}]

    return _lines(runs, path, "runs.jsonl", rows)


def _messages(runs: Iterator[Run], path: Path, folder: Path) -> Parts:
    as_row = message_rows()

    def rows(run: Run) -> Iterator[dict[str, object]]:
        place = {"run": str(run.pk), "experiment": str(run.experiment_id), "workflow": run.experiment.workflow}
        for message in each(run.messages.select_related("call", "step")):
            yield {**place, **as_row(message)}

    return _lines(runs, path, "messages.jsonl", rows)


def _lines(runs: Iterator[Run], path: Path, name: str, rows: Callable[[Run], Iterable[Any]]) -> Parts:
    with path.open("wb") as file:
        part = Part(name, file)
        for run in runs:
            for row in rows(run):
                part.write(encoded(row) + b"\n", rows=1)
    return [part.told()]


def _csv(runs: Iterator[Run], path: Path, folder: Path) -> Parts:
    def line(table: tables.Table, row: tables.Row) -> bytes:
        return csv_line(tables.cells(table, row).values())

    counts = _tables(runs, folder, "csv", line, head=lambda table: BOM + csv_line(table.columns))
    return _zipped(path, folder, {f"{name}.csv": rows for name, rows in counts.items()})


def _parquet(runs: Iterator[Run], path: Path, folder: Path) -> Parts:
    """Written as lines first; a limited process makes Parquet of them."""
    _tables(runs, folder, "jsonl", lambda table, row: encoded(tables.cells(table, row)) + b"\n", head=lambda table: b"")
    columns = {table.name: {name: TYPES[kind] for name, kind in table.columns.items()} for table in tables.TABLES}
    with process.spool_in(folder / "spool") as spool:
        said = process.read(folder.absolute(), spool, what="parquet", tables=columns).said
    return _zipped(path, folder, {f"{name}.parquet": rows for name, rows in said["rows"].items()})


def _tables(
    runs: Iterator[Run],
    folder: Path,
    ending: str,
    line: Callable[[tables.Table, tables.Row], bytes],
    head: Callable[[tables.Table], bytes],
) -> dict[str, int]:
    """Each table a file of the folder: they grow together, run after run. Returns the rows of each."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    counts = {table.name: 0 for table in tables.TABLES}
    with ExitStack() as files:
        opened = {one: files.enter_context((folder / f"{one}.{ending}").open("wb")) for one in counts}
        for table in tables.TABLES:
            opened[table.name].write(head(table))
        for run in runs:
            for table in tables.TABLES:
                for row in table.rows(run):
                    opened[table.name].write(line(table, row))
                    counts[table.name] += 1
    return counts


def _zipped(path: Path, folder: Path, counts: Mapping[str, int]) -> Parts:
    """Files of the folder, each with its count of rows, packed piece by piece."""
    packed = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for name, rows in counts.items():
            with (folder / name).open("rb") as source, archive.open(entry(name), "w", force_zip64=True) as target:
                part = Part(name, target)
                while chunk := source.read(AT_ONCE):
                    part.write(chunk)
            packed.append({**part.told(), "rows": rows})
    return packed


def _inspect(runs: Iterator[Run], path: Path, folder: Path) -> Parts:
    told: Parts = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for run in runs:
            with archive.open(entry(log_name(run)), "w", force_zip64=True) as file:
                part = Part(log_name(run), file)
                part.write(inspect_log(run), rows=1)
            told.append(part.told())
    return told


FORMATS = {
    format_.name: format_
    for format_ in (
        BulkFormat("jsonl", _("Runs (JSON Lines)"), _("One run per line, with its whole record. Can be imported."),
                   "application/jsonl", "jsonl", _documents, returns=True),
        BulkFormat("messages", _("Messages (JSON Lines)"), _("One message per line."),
                   "application/jsonl", "messages.jsonl", _messages),
        BulkFormat("csv", _("Tables (CSV)"), _("Runs, messages, judgments, ballots, battles, executions, calls."),
                   "application/zip", "csv.zip", _csv),
        BulkFormat("parquet", _("Tables (Parquet)"), _("The same tables with their types, for data frames."),
                   "application/zip", "parquet.zip", _parquet),
        BulkFormat("inspect", _("Inspect logs"), _("One log of Inspect AI per run, zipped."),
                   "application/zip", "inspect.zip", _inspect, returns=True),
    )
}  # fmt: skip
