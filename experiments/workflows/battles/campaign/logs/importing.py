"""Imports logs of battles: read line by line, validated, stored in batches. Importing a log twice changes nothing.

A log is read twice: nothing is written before every line has been checked, unless the caller wants what is sound of it.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import error as ZlibError  # noqa: N812 — an exception, called like one

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import Forbidden, TooLarge
from experiments.library.datasets.writing import empty
from experiments.library.imports.files import Allowance
from experiments.library.imports.values import Unreadable
from experiments.models import Battle, Dataset
from experiments.workflows.battles.campaign.logs import arenalab, genarena, lmarena, rows
from experiments.workflows.battles.campaign.logs.placing import MADE_FROM
from experiments.workflows.battles.campaign.logs.records import Malformed, Record, Void
from experiments.workflows.battles.campaign.logs.report import MOST_SHOWN, Report
from experiments.workflows.battles.campaign.logs.sources import Source, opened
from experiments.workflows.battles.campaign.logs.storing import Placed, Store

if TYPE_CHECKING:
    from accounts.models import User

BATCH = 500
HEARD_AFTER = 5000  # lines, also where none of them is a battle
BATCH_CHARACTERS = 8 << 20
UNPACKED = 8  # how many times larger than an upload may be what is in it
SNAPSHOT_BYTES = 1 << 20
MILESTONE = "GenArena_"
DAMAGED = (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError)
SLUG_LENGTH = 70
Heard = Callable[[Report], None]


class NothingStored(ValueError):
    """Lines were refused, so nothing of the log was imported. report: how many, which and why."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def unheard(_report: Report) -> None:
    """Nobody follows the import."""


def make_dataset(*, owner: "User", name: str, source: str = "") -> Dataset:
    """A dataset that takes its samples and contestants from a log of battles. It is ready, and others may see it, once
    `import_battles` has stored the log; `discard` deletes it where that failed. Raises Forbidden.
    """
    if not owner.may_experiment:
        raise Forbidden(_("Your role may read, but not make datasets. Ask an admin of the lab."))
    dataset = Dataset(owner=owner, name=name[:200], state=Dataset.State.WAITING, takes_votes=False)
    dataset.columns, dataset.source = MADE_FROM, source[:300]
    short = slugify(name)[:SLUG_LENGTH].strip("-") or "battles"
    for number in range(1, 1000):
        dataset.slug = short if number == 1 else f"{short}-{number}"
        try:
            with transaction.atomic():
                dataset.save(force_insert=True)
                return dataset
        except IntegrityError:
            continue
    raise Forbidden(_("There are too many datasets of this name: choose another one."))


def is_in_making(dataset: Dataset) -> bool:
    """Whether it was made for a log that is not stored yet."""
    return dataset.columns == MADE_FROM and dataset.state == Dataset.State.WAITING


def discard(dataset: Dataset, reason: str = "") -> None:
    """Take away a dataset in the making whose log could not be imported. reason: keep its row, refused, to say why."""
    if not is_in_making(dataset):
        return
    battles = Battle.objects.filter(board__dataset=dataset).order_by()
    while keys := list(battles.values_list("pk", flat=True)[:BATCH]):
        Battle.objects.filter(pk__in=keys).delete()
    dataset.boards.all().delete()
    empty(dataset, lambda: None)
    if not reason:
        dataset.delete()
        return
    dataset.state, dataset.refused_reason = Dataset.State.REFUSED, reason
    dataset.save(update_fields=["state", "refused_reason"])


def may_import(dataset: Dataset, user: "User") -> bool:
    """Logs decide ratings, so only who answers for the dataset takes them over: its owner, or an admin."""
    return user.may_experiment and (dataset.owner_id == user.pk or user.role == user.Role.ADMIN)


def import_battles(
    path: Path,
    *,
    dataset: Dataset,
    by: "User",
    judge: str = "",
    subset: str | None = None,
    name: str = "",
    keep_partial: bool = False,
    heard: Heard = unheard,
) -> Report:
    """Store the battles of a folder, a zip or a file on the dataset's imported boards.

    judge: whose board they stand on; otherwise what the log says. subset: of logs that name none. name: what the file
    was called. keep_partial: store the other lines where some are refused; otherwise one refused line refuses the log.
    A line that contradicts an earlier one is the exception: the earlier result stays. heard: told after each batch.
    Raises Forbidden, Unreadable, TooLarge and NothingStored.
    """
    if not may_import(dataset, by):
        raise Forbidden(_("Only the owner of the dataset may import battles into it, or an admin."))
    if not dataset.is_ready and not is_in_making(dataset):
        raise Forbidden(_("The dataset is not ready yet: import battles when it is."))
    log = _Log(path, name, dataset, judge[:200], subset, heard)
    if not keep_partial:
        checked = log.read(is_check=True)
        if checked.refused:
            raise NothingStored(_refusal(checked), checked)
    report = log.read()
    if not report.taken:
        raise NothingStored(_refusal(report), report)
    _conclude(dataset, report)
    return report


@dataclass(frozen=True, slots=True)
class _Log:
    """A log, and the dataset that it is for."""

    path: Path
    name: str
    dataset: Dataset
    judge: str
    subset: str | None
    heard: Heard

    def read(self, *, is_check: bool = False) -> Report:
        """Read it to its end and store it. is_check: only find out which lines would be refused."""
        report, allowance = Report(), Allowance(UNPACKED * settings.UPLOAD_BYTES)
        store = Store(self.dataset, report, judge=self.judge, subset=self.subset, is_check=is_check)
        with opened(self.path, self.name) as sources:
            for batch in _batches(_placed(sources, report, allowance, self.judge, self.heard)):
                try:
                    (store.check if is_check else store.add)(batch)
                except Malformed as error:
                    for placed in batch:
                        report.refuse(placed.file, placed.line, str(error))
                self.heard(report)
        return report


def _refusal(report: Report) -> str:
    """Why nothing of a log was stored, with the first of its faults."""
    if not report.refusals:
        return _("There are no battles in it.")
    first = report.refusals[0]
    said = ngettext(
        "%(count)s of %(read)s lines was refused, so nothing was imported. Line %(line)s: %(reason)s",
        "%(count)s of %(read)s lines were refused, so nothing was imported. Line %(line)s: %(reason)s",
        report.refused,
    )
    line = f"{first.line} ({first.file})" if first.file else first.line
    return said % {"count": report.refused, "read": report.read, "line": line, "reason": first.reason}


def _placed(sources: list[Source], report: Report, allowance: Allowance, judge: str, heard: Heard) -> Iterator[Placed]:
    for source in sources:
        if source.is_snapshot:
            _keep_snapshot(source, report, allowance)
            continue
        file = "" if len(sources) == 1 else source.name
        for row in _rows(source, report, allowance, heard):
            report.read += 1
            if report.read % HEARD_AFTER == 0:
                heard(report)
            try:
                yield Placed(file, row.number, _record(row, source, judge, report))
            except Void:
                report.void += 1
            except Malformed as error:
                report.refuse(file, row.number, str(error))


def _rows(source: Source, report: Report, allowance: Allowance, heard: Heard) -> Iterator[rows.Row]:
    """The file's rows; a member of a zip that cannot be unpacked ends with a refusal."""
    if source.ending == ".parquet":
        if source.path is None:
            raise Unreadable(_("Parquet is read from a file of its own, not from within a zip."))
        yield from rows.parquet_rows(source.path, allowance, lambda: heard(report))
        return
    reading = {".csv": rows.csv_rows, ".json": rows.json_list}.get(source.ending, rows.json_lines)
    number = 0
    try:
        with source.open() as file:
            for row in reading(file, allowance):
                number = row.number
                yield row
    except DAMAGED as error:
        report.refuse(source.name, number + 1, _("The zip is damaged here: %(error)s.") % {"error": error})


def _record(row: rows.Row, source: Source, judge: str, report: Report) -> Record:
    """Raises Malformed."""
    if row.content is None:
        raise Malformed(row.reason)
    if genarena.is_slim(row.content):
        report.tallies["genarena"] += 1
        return genarena.record(row.content, experiment=source.experiment, subset=source.subset)
    if arenalab.is_battle(row.content):
        return arenalab.record(row.content)
    if lmarena.is_battle(row.content):
        return lmarena.record(row.content, judge=judge)
    raise Malformed(_("This is no battle: neither of GenArena's log nor with model_a, model_b and winner."))


def _batches(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    """A few hundred records, or fewer where they are long."""
    batch: list[Placed] = []
    held = 0
    for one in placed:
        batch.append(one)
        held += _length(one.record)
        if len(batch) >= BATCH or held > BATCH_CHARACTERS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _length(record: Record) -> int:
    said = [
        record.task.instruction,
        *(record.texts or ()),
        *(text for c in record.calls for text in (c.raw, c.rationale)),
    ]
    return sum(map(len, said))


def _keep_snapshot(source: Source, report: Report, allowance: Allowance) -> None:
    """Ratings that the log brings are told in the report, and never mixed with ours."""
    try:
        with source.open() as file:
            data = file.read(SNAPSHOT_BYTES + 1)
        allowance.spend(len(data))
        content = json.loads(data) if len(data) <= SNAPSHOT_BYTES else None
    except (*DAMAGED, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        report.refuse(source.name, 1, _("This is no snapshot of ratings."))
    elif len(report.snapshots) < MOST_SHOWN:
        report.snapshots.append(_snapshot(source.experiment, content))


def _snapshot(experiment: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """As a milestone: names with their ratings. A bare {name: rating} is read too."""
    told = content.get("elo", content)
    ratings = {str(name): value for name, value in told.items() if _is_number(value)} if isinstance(told, dict) else {}
    chosen = sorted(ratings)
    bounds = {side: content.get(f"ci_{side}") for side in ("lower", "upper")}
    return {
        "name": experiment,
        "is_milestone": experiment.startswith(MILESTONE),
        "taken": content.get("generated_at") if isinstance(content.get("generated_at"), str) else None,
        "battles": content.get("battle_count") if _is_number(content.get("battle_count")) else None,
        "contestants": chosen,
        "ratings": [ratings[name] for name in chosen],
        **{side: [_bound(told, name) for name in chosen] for side, told in bounds.items()},
    }


def _bound(told: Any, name: str) -> float | None:
    value = told.get(name) if isinstance(told, dict) else None
    return value if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _conclude(dataset: Dataset, report: Report) -> None:
    if unsure := report.tallies["unsure"]:
        said = _(
            "%(count)s battles are inconsistent ties of a slim log, which cannot tell a disagreement of the judge from "
            "calls that failed. Import the audit log (raw_outputs) too: then those that failed are left open."
        )
        report.warn(said % {"count": unsure})
    if dataset.columns == MADE_FROM and report.tallies["genarena"] and not report.outputs:
        Dataset.objects.filter(pk=dataset.pk, modality="text", samples__outputs=None).update(modality="image")
    if is_in_making(dataset):
        dataset.state, dataset.progress = Dataset.State.READY, 1
        dataset.save(update_fields=["state", "progress"])


__all__ = [
    "Forbidden",
    "NothingStored",
    "TooLarge",
    "Unreadable",
    "discard",
    "import_battles",
    "is_in_making",
    "make_dataset",
    "may_import",
]
