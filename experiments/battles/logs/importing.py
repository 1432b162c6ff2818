"""Takes logs of battles over: read line by line, validated, stored in batches. Telling it twice changes nothing."""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import error as ZlibError  # noqa: N812 — an exception, called like one

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify
from django.utils.translation import gettext as _

from experiments.battles.logs import arenalab, genarena, lmarena, rows
from experiments.battles.logs.lines import Allowance, TooMuch
from experiments.battles.logs.placing import MADE_FROM
from experiments.battles.logs.records import Malformed, Record
from experiments.battles.logs.report import MOST_SHOWN, Report
from experiments.battles.logs.sources import Source, Unreadable, opened
from experiments.battles.logs.storing import Placed, Store
from experiments.models import Dataset
from experiments.refusals import NotAllowed

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


def unheard(_report: Report) -> None:
    """Nobody follows the import."""


def make_dataset(*, owner: "User", name: str, source: str = "") -> Dataset:
    """A dataset that takes its samples and contestants from logs of battles. Raises NotAllowed."""
    if not owner.may_experiment:
        raise NotAllowed(_("Your role may read, but not make datasets. Ask an admin of the lab."))
    dataset = Dataset(owner=owner, name=name[:200], state=Dataset.State.READY, takes_votes=False, progress=1)
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
    raise NotAllowed(_("There are too many datasets of this name: choose another one."))


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
    heard: Heard = unheard,
) -> Report:
    """Store the battles of a folder, a zip or a file on the dataset's imported boards.

    judge: whose board they stand on; otherwise what the log says. subset: of logs that name none. name: what the file
    was called. heard: told after each batch. Raises NotAllowed, Unreadable and TooMuch; what was stored before stays.
    """
    if not may_import(dataset, by):
        raise NotAllowed(_("Only the owner of the dataset may import battles into it, or an admin."))
    if not dataset.is_ready:
        raise NotAllowed(_("The dataset is not ready yet: import battles when it is."))
    report, allowance = Report(), Allowance(UNPACKED * settings.UPLOAD_BYTES)
    store = Store(dataset, report, judge=judge[:200], subset=subset)
    with opened(path, name) as sources:
        for batch in _batches(_placed(sources, report, allowance, judge, heard)):
            _add(store, batch, report)
            heard(report)
    _conclude(dataset, report)
    return report


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


def _add(store: Store, batch: list[Placed], report: Report) -> None:
    try:
        store.add(batch)
    except Malformed as error:
        for placed in batch:
            report.refuse(placed.file, placed.line, str(error))


def _keep_snapshot(source: Source, report: Report, allowance: Allowance) -> None:
    """Ratings that the log brings are told in the report, and never mixed with ours."""
    try:
        with source.open() as file:
            data = file.read(SNAPSHOT_BYTES + 1)
        allowance.spend(len(data))
        content = json.loads(data) if len(data) <= SNAPSHOT_BYTES else None
    except TooMuch:
        raise
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


__all__ = ["NotAllowed", "TooMuch", "Unreadable", "import_battles", "make_dataset", "may_import"]
