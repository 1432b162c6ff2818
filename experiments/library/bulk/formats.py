"""The formats of bulk exports: what each is called, and who writes it. None of them holds more than one run at once."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from experiments.library.bulk import tables
from experiments.library.bulk.writing import MANIFEST, Part, pack, parts_in
from experiments.library.datasets import process
from experiments.models import Run
from experiments.runs.reports.csv_export import BOM, cell
from experiments.runs.reports.document import document, encoded, message_rows
from experiments.runs.reports.inspect_log import inspect_log, log_name
from experiments.runs.zipping import entry
from experiments.workflows.shards import is_sharded

TYPES = {
    tables.TEXT: "VARCHAR",
    tables.JSON: "VARCHAR",
    tables.WHOLE: "BIGINT",
    tables.NUMBER: "DOUBLE",
    tables.MONEY: "DECIMAL(20,10)",
    tables.TRUTH: "BOOLEAN",
    tables.MOMENT: "TIMESTAMPTZ",
}
Manifest = dict[str, object]
Parts = list[dict[str, object]]
Described = Callable[[Parts], Manifest]
Write = Callable[[Iterator[Run], Path, Path, Described], Manifest]


@dataclass(frozen=True, slots=True)
class BulkFormat:
    """write: runs with totals, one after the other, into the file; in the folder it may put what it needs meanwhile.
    It gives the manifest, which it gets from the parts that it wrote. returns: whether it can be imported again.
    """

    name: str
    label: str | Promise
    hint: str | Promise
    content_type: str
    ending: str
    write: Write
    returns: bool = False


def _documents(runs: Iterator[Run], path: Path, folder: Path, described: Described) -> Manifest:
    return _lines(runs, path, described, "runs.jsonl", lambda run: [_document(run)])


def _document(run: Run) -> dict[str, Any]:
    """As the report in JSON; of part of a campaign with its battles, which stand on a board of many runs."""
    shards = (
        {"battles": list(tables.TABLES_BY_NAME["battles"].rows(run))} if is_sharded(run.experiment.workflow) else {}
    )
    return {**document(run), **shards}


def _messages(runs: Iterator[Run], path: Path, folder: Path, described: Described) -> Manifest:
    as_row = message_rows()

    def rows(run: Run) -> Iterator[dict[str, object]]:
        place = {"run": str(run.pk), "experiment": str(run.experiment_id), "workflow": run.experiment.workflow}
        for message in run.messages.select_related("call", "step").iterator(chunk_size=50):
            yield {**place, **as_row(message)}

    return _lines(runs, path, described, "messages.jsonl", rows)


def _lines(
    runs: Iterator[Run], path: Path, described: Described, name: str, rows: Callable[[Run], Iterable[Any]]
) -> Manifest:
    with path.open("wb") as file:
        part = Part(name, file)
        for run in runs:
            for row in rows(run):
                part.write(encoded(row) + b"\n", rows=1)
    return described([part.told()])


def _csv(runs: Iterator[Run], path: Path, folder: Path, described: Described) -> Manifest:
    files = {table.name: f"{table.name}.csv" for table in tables.TABLES}
    with parts_in(folder, files.values()) as parts:
        for table in tables.TABLES:
            parts[files[table.name]].write(BOM + _csv_line(list(table.columns)))
        for run, table in ((run, table) for run in runs for table in tables.TABLES):
            for row in table.rows(run):
                parts[files[table.name]].write(_csv_line(list(tables.cells(table, row).values())), rows=1)
        counts = {name: part.count for name, part in parts.items()}
    return _zipped(path, folder, counts, described)


def _csv_line(values: Sequence[Any]) -> bytes:
    """No cell of it is taken for a formula."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL).writerow([cell(value) for value in values])
    return line.getvalue().encode()


def _parquet(runs: Iterator[Run], path: Path, folder: Path, described: Described) -> Manifest:
    """Written as lines first; a limited process makes Parquet of them."""
    with parts_in(folder, [f"{table.name}.jsonl" for table in tables.TABLES]) as parts:
        for run, table in ((run, table) for run in runs for table in tables.TABLES):
            for row in table.rows(run):
                parts[f"{table.name}.jsonl"].write(encoded(tables.cells(table, row)) + b"\n", rows=1)
    columns = {table.name: {name: TYPES[kind] for name, kind in table.columns.items()} for table in tables.TABLES}
    with process.spool_in(folder / "spool") as spool:
        said = process.read(folder.absolute(), spool, what="parquet", tables=columns).said
    counts = {f"{name}.parquet": rows for name, rows in said["rows"].items()}
    return _zipped(path, folder, counts, described)


def _zipped(path: Path, folder: Path, counts: Mapping[str, int], described: Described) -> Manifest:
    """The parts as files of a zip, each with its count of rows, the manifest last."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        packed = [{**pack(archive, folder / name, name), "rows": rows} for name, rows in counts.items()]
        return _with_manifest(archive, described(packed))


def _inspect(runs: Iterator[Run], path: Path, folder: Path, described: Described) -> Manifest:
    told: Parts = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        for run in runs:
            with archive.open(entry(log_name(run)), "w", force_zip64=True) as file:
                part = Part(log_name(run), file)
                part.write(inspect_log(run), rows=1)
            told.append(part.told())
        return _with_manifest(archive, described(told))


def _with_manifest(archive: zipfile.ZipFile, manifest: Manifest) -> Manifest:
    archive.writestr(entry(MANIFEST), json.dumps(manifest, ensure_ascii=False, indent=1).encode())
    return manifest


FORMATS = {
    format_.name: format_
    for format_ in (
        BulkFormat("jsonl", _("Runs (JSON Lines)"), _("One run per line, with all of its record. Can be imported."),
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
