"""Logs of battles that are sent as files of runs: they become a dataset with its boards."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.formats import DatasetFormat
from experiments.models import RunImport
from experiments.models.run_import import ImportSource
from experiments.tasks.waiting import Progress
from experiments.workflows.battles.campaign.logs import arenalab, genarena, importing, lmarena
from experiments.workflows.battles.campaign.logs.report import Report
from experiments.workflows.battles.campaign.logs.sources import LOGS


def _fits(value: Any) -> bool:
    said = value if isinstance(value, dict) else {}
    return genarena.is_slim(said) or arenalab.is_battle(said) or lmarena.is_battle(said)


def _store(row: RunImport, progress: Progress) -> Mapping[str, Any]:
    def heard(_read: Report) -> None:
        progress(0, source=ImportSource.GENARENA)  # a field to write, so that the claim is looked at

    if row.dataset is None:  # otherwise a worker that was ended has begun with it
        name = PurePath(row.name).stem or "GenArena"
        row.dataset = importing.make_dataset(owner=row.owner, name=name, source=row.name)
        progress(0, dataset=row.dataset)
    importing.import_battles(row.path, dataset=row.dataset, by=row.owner, name=row.name, heard=heard)
    return {"dataset": row.dataset}


def _discard(row: RunImport) -> None:
    if row.dataset:
        importing.discard(row.dataset)
        row.dataset = None


FORMAT = DatasetFormat(
    source=ImportSource.GENARENA,
    folder=LOGS,
    fits=_fits,
    beside_runs=lambda: _("Runs and battles stand side by side in this file: send them in two."),
    store=_store,
    discard=_discard,
)
