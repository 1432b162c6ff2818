"""Imports logs of battles: read line by line, validated, stored in batches. Importing a log twice changes nothing.

A log is read twice: nothing is written before every line has been checked, unless the caller wants what is sound of it.
"""

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from zlib import error as ZlibError  # noqa: N812 — an exception, called like one

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.errors import Forbidden
from experiments.library.datasets.writing import empty
from experiments.library.imports.files import Allowance
from experiments.library.imports.formats import DatasetFormat
from experiments.library.imports.values import Unreadable
from experiments.models import Battle, Board, Dataset, RunImport, shared_files
from experiments.models.imports import ImportSource
from experiments.models.signals import board_unpacked
from experiments.tasks.waiting import Progress
from experiments.workflows.battles.campaign.logs import arenalab, files, genarena, lmarena
from experiments.workflows.battles.campaign.logs.columns import AS_PUBLISHED, Columns
from experiments.workflows.battles.campaign.logs.placing import MADE_FROM
from experiments.workflows.battles.campaign.logs.records import MOST_SHOWN, Malformed, Placed, Record, Report, Void
from experiments.workflows.battles.campaign.logs.storing import Store

if TYPE_CHECKING:
    from accounts.models import User

__all__ = [
    "FORMAT",
    "NothingStored",
    "Unreadable",
    "discard",
    "import_battles",
    "is_in_making",
    "make_dataset",
    "may_import",
]

BATCH = 5000
HEARD_AFTER = 5000  # lines, also where none of them is a battle
BATCH_CHARACTERS = 8 << 20
KEPT_CHARACTERS = 128 << 20  # of a log that is checked and then stored without being read once more
OF_A_ROW = 1000  # characters that a row takes beside its texts
UNPACKED = 8  # how many times larger than an upload may be what is in it
SNAPSHOT_BYTES = 1 << 20
MILESTONES_BYTES = 64 << 20  # a covariance has as many numbers as pairs of contestants
MILESTONE = "GenArena_"
DAMAGED = (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError)
SLUG_LENGTH = 70
Heard = Callable[[Report], None]


class NothingStored(ValueError):
    """Lines were refused, so nothing of the log was imported. report: how many, which and why."""

    def __init__(self, report: Report) -> None:
        message = _("There are no battles in the file.")
        if report.refusals:
            first = report.refusals[0]
            said = ngettext(
                "%(count)s of %(read)s lines was refused, so nothing was imported. Line %(line)s: %(reason)s",
                "%(count)s of %(read)s lines were refused, so nothing was imported. Line %(line)s: %(reason)s",
                report.refused,
            )
            line = f"{first.line} ({first.file})" if first.file else first.line
            message = said % {"count": report.refused, "read": report.read, "line": line, "reason": first.reason}
        super().__init__(message)
        self.report = report


# --- the dataset ---


def make_dataset(*, owner: "User", name: str, source: str = "") -> Dataset:
    """A dataset that takes its samples and contestants from a log of battles. It is ready, and others may see it, once
    `import_battles` has stored the log; `discard` deletes it where that failed. Raises Forbidden.
    """
    if not owner.may_experiment:
        raise Forbidden(_("Your role can view datasets but not create them. Ask an administrator."))
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
    raise Forbidden(_("There are too many datasets with this name. Choose another one."))


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


# --- the log ---


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
    columns: Columns = AS_PUBLISHED,
    name: str = "",
    keep_partial: bool = False,
    is_dry_run: bool = False,
    heard: Heard = lambda report: None,
) -> Report:
    """Store the battles of a folder, a zip or a file on boards of the dataset: the votes of people on that of people
    elsewhere, those of each judge on one of its own.

    judge: whose board they stand on; otherwise what the log says. subset: of logs that name none. columns: where one
    for the voters is named, every line is a vote. name: what the file was called. keep_partial: store the other lines
    where some are refused; otherwise one refused line refuses the log. A line that contradicts an earlier one is the
    exception: the earlier result stays. is_dry_run: report what would be stored, and store nothing. heard: told after
    each batch. Raises Forbidden, Unreadable, TooLarge and NothingStored.
    """
    if not may_import(dataset, by):
        raise Forbidden(_("Only the dataset's owner or an administrator can import battles into it."))
    if not dataset.is_ready and not is_in_making(dataset):
        raise Forbidden(_("The dataset is not ready. Import battles when it is."))
    how: dict[str, Any] = {"judge": judge[:200], "is_people": columns.has_voters, "subset": subset}
    reader, checked = _Reader(columns, heard), list[list[Placed]]()
    if is_dry_run or not keep_partial:
        with files.opened(path, name) as sources:
            store = Store(dataset, reader.report, is_check=True, **how)
            checked = _taken(reader, _batches(reader.placed(sources)), store.check)
        if is_dry_run:
            return reader.report
        if reader.report.refused:
            raise NothingStored(reader.report)
        reader = replace(reader, report=reader.report.as_read()) if checked else _Reader(columns, heard)
    with files.opened(path, name) as sources:
        store = Store(dataset, reader.report, **how)
        _taken(reader, checked or _batches(reader.placed(sources)), store.add)
    if not reader.report.taken:
        raise NothingStored(reader.report)
    _conclude(dataset, reader.report)
    if reader.milestones is not None:
        _take_milestones(reader.milestones, reader.report, by)
    return reader.report


def _taken(
    reader: "_Reader", batches: Iterable[list[Placed]], take: Callable[[list[Placed]], object]
) -> list[list[Placed]]:
    """Take batch after batch; those of a whole log that is short enough to be taken once more without being read."""
    kept, room = list[list[Placed]](), KEPT_CHARACTERS
    for batch in batches:
        try:
            take(batch)
        except Malformed as error:
            for placed in batch:
                reader.report.refuse(placed.file, placed.line, str(error))
        reader.heard(reader.report)
        room -= sum(one.record.length + OF_A_ROW for one in batch)
        if room > 0:
            kept.append(batch)
        else:
            kept.clear()
    return kept


def _conclude(dataset: Dataset, report: Report) -> None:
    if unsure := report.tallies["unsure"]:
        said = _(
            "%(count)s battles are inconsistent ties of a slim log, which does not separate disagreement from "
            "failed calls. Import the audit log (raw_outputs) too; then failed calls are left open."
        )
        report.warn(said % {"count": unsure})
    if dataset.columns == MADE_FROM and report.tallies["genarena"] and not report.outputs:
        Dataset.objects.filter(pk=dataset.pk, modality="text", samples__outputs=None).update(modality="image")
    if is_in_making(dataset):
        dataset.state, dataset.progress = Dataset.State.READY, 1
        dataset.save(update_fields=["state", "progress"])


def _take_milestones(content: Any, report: Report, by: "User") -> None:
    """Those of a folder that was exported here belong to the one board of its battles."""
    if len(report.boards) != 1:
        report.warn(_("Milestones of the folder were left out: its battles became several boards."))
        return
    board = Board.objects.select_related("dataset").get(slug=report.boards[0])
    answers: list[tuple[Any, Any]] = board_unpacked.send(Board, board=board, by=by, content=content)
    for _receiver, warnings in answers:
        for warning in warnings:
            report.warn(warning)


def _batches(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    """A few hundred records, or fewer where they are long."""
    batch: list[Placed] = []
    held = 0
    for one in placed:
        batch.append(one)
        held += one.record.length
        if len(batch) >= BATCH or held > BATCH_CHARACTERS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class _Reader:
    """Reads a log to its end, and says in the report what was read."""

    columns: Columns
    heard: Heard
    report: Report = field(default_factory=Report)
    allowance: Allowance = field(default_factory=lambda: Allowance(UNPACKED * settings.UPLOAD_BYTES))
    milestones: Any = None  # as the folder has them, if it has any
    _keys: Set[str] = frozenset()  # of the row before

    def placed(self, sources: list[files.Source]) -> Iterator[Placed]:
        for source in sources:
            if source.is_snapshot:
                self._keep_snapshot(source)
                continue
            if source.is_milestones:
                self.milestones = self._content(source, MILESTONES_BYTES)
                continue
            file = "" if len(sources) == 1 else source.name
            for row in self._rows(source):
                self.report.read += 1
                if self.report.read % HEARD_AFTER == 0:
                    self.heard(self.report)
                try:
                    yield Placed(file, row.number, self._record(row, source))
                except Void:
                    self.report.void += 1
                except Malformed as error:
                    self.report.refuse(file, row.number, str(error))

    def _rows(self, source: files.Source) -> Iterator[files.Row]:
        """The file's rows; a member of a zip that cannot be unpacked ends with a refusal."""
        reading = {".csv": files.csv_rows, ".json": files.json_list}.get(source.ending, files.json_lines)
        number = 0
        try:
            if source.ending == ".parquet":
                with source.on_disk(self.allowance) as path:
                    wanted = self.columns.wanted
                    yield from files.parquet_rows(path, self.allowance, wanted, lambda: self.heard(self.report))
                return
            with source.open() as file:
                for row in reading(file, self.allowance):
                    number = row.number
                    yield row
        except DAMAGED as error:
            said = _("The zip is damaged here: %(error)s.")
            self.report.refuse(source.name, number + 1, said % {"error": error})

    def _record(self, row: files.Row, source: files.Source) -> Record:
        """Raises Malformed."""
        if row.content is None:
            raise Malformed(row.reason)
        if self.columns.named:
            content = self.columns.renamed(row.content)
        elif genarena.is_slim(row.content):
            self.report.tallies["genarena"] += 1
            return genarena.record(row.content, experiment=source.experiment, subset=source.subset)
        elif arenalab.is_battle(row.content):
            return arenalab.record(row.content)
        else:
            content = row.content
        if lmarena.is_battle(content):
            if row.content.keys() != self._keys:
                self._keys = row.content.keys()
                self.report.columns |= self.columns.used(row.content)
            return lmarena.record(content, is_vote=self.columns.has_voters)
        raise Malformed(_("This is not a battle in a known format: GenArena's log, or model_a, model_b and winner."))

    def _keep_snapshot(self, source: files.Source) -> None:
        """Ratings that the log brings are told in the report, and never mixed with ours."""
        content = self._content(source, SNAPSHOT_BYTES)
        if content is not None and len(self.report.snapshots) < MOST_SHOWN:
            self.report.snapshots.append(_snapshot(source.experiment, content))

    def _content(self, source: files.Source, most: int) -> dict[str, Any] | None:
        """The JSON object of a file of ratings; None, with a refusal, for anything else and for more bytes."""
        try:
            with source.open() as file:
                data = file.read(most + 1)
            self.allowance.spend(len(data))
            content = json.loads(data) if len(data) <= most else None
        except (*DAMAGED, ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            self.report.refuse(source.name, 1, _("This is not a snapshot of ratings."))
            return None
        return content


def _snapshot(experiment: str, content: Mapping[str, Any]) -> dict[str, object]:
    """As a milestone: names with their ratings. A bare {name: rating} is read too."""

    def numbers(told: Any) -> dict[str, float]:
        return {str(name): value for name, value in told.items() if _is_number(value)} if isinstance(told, dict) else {}

    ratings = numbers(content.get("elo", content))
    lower, upper = numbers(content.get("ci_lower")), numbers(content.get("ci_upper"))
    taken, battles, chosen = content.get("generated_at"), content.get("battle_count"), sorted(ratings)
    return {
        "name": experiment,
        "is_milestone": experiment.startswith(MILESTONE),
        "taken": taken if isinstance(taken, str) else None,
        "battles": battles if _is_number(battles) else None,
        "contestants": chosen,
        "ratings": [ratings[name] for name in chosen],
        "lower": [lower.get(name) for name in chosen],
        "upper": [upper.get(name) for name in chosen],
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


# --- logs that are sent as files of runs: they become a dataset with its boards ---


def _fits(value: Any) -> bool:
    said = value if isinstance(value, dict) else {}
    return genarena.is_slim(said) or arenalab.is_battle(said) or lmarena.is_battle(said)


def _store(row: RunImport, progress: Progress) -> Mapping[str, Any]:
    def heard(_read: Report) -> None:
        progress(0, source=ImportSource.GENARENA)  # a field to write, so that the claim is looked at

    if row.dataset is None:  # otherwise a worker that was ended has begun with it
        row.dataset = make_dataset(owner=row.owner, name=PurePath(row.name).stem or "GenArena", source=row.name)
        progress(0, dataset=row.dataset)
    import_battles(shared_files.here(row.path), dataset=row.dataset, by=row.owner, name=row.name, heard=heard)
    return {"dataset": row.dataset}


def _discard(row: RunImport) -> None:
    if row.dataset:
        discard(row.dataset)
        row.dataset = None


FORMAT = DatasetFormat(
    source=ImportSource.GENARENA,
    folder=files.LOGS,
    fits=_fits,
    beside_runs=lambda: _("This file has runs and battles. Send them in two files."),
    store=_store,
    discard=_discard,
)
