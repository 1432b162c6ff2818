"""`manage.py import_battles`: logs of battles that were judged elsewhere."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.errors import Refusal
from accounts.models import User
from experiments.models import Dataset
from experiments.tasks.threads import spare_what_is_loaded
from experiments.workflows.battles.campaign.logs.columns import PARTS, Columns
from experiments.workflows.battles.campaign.logs.importing import (
    NothingStored,
    Unreadable,
    discard,
    import_battles,
    make_dataset,
)
from experiments.workflows.battles.campaign.logs.records import Report


class Command(BaseCommand):
    requires_system_checks = []
    help = (
        "Take over battles and votes of people: GenArena's pk_logs (folder, zip, file), LMArena's files "
        "(JSON, JSONL, CSV, Parquet), and those exported here."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a folder, a zip or a file")
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="is made when there is none of this name")
        parser.add_argument("--judge", default="", metavar="NAME", help="who judged; otherwise what the log says")
        parser.add_argument("--voter", default="", metavar="COLUMN", help="who voted; then every line is a vote")
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="PART=COLUMN",
            help=f"what is called otherwise than in LMArena's files; parts: {', '.join(PARTS)}",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be stored, and store nothing")
        parser.add_argument("--subset", metavar="NAME", help="of logs that name none")
        parser.add_argument("--owner", metavar="USER", help="whose the dataset is, or will be")
        parser.add_argument("--keep-partial", action="store_true", help="store the other lines where some are refused")
        parser.add_argument("--report", type=Path, metavar="FILE", help="write the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        spare_what_is_loaded(rarely=True)
        try:
            columns = Columns.read("\n".join(options["column"]), voter=options["voter"])
            dataset, by = self._dataset(options)
            how = {name: options[name] for name in ("judge", "subset", "keep_partial")}
            how |= {"columns": columns, "is_dry_run": options["dry_run"]}
            try:
                report = import_battles(options["path"], dataset=dataset, by=by, **how)
            except BaseException:
                discard(dataset)
                raise
            if options["dry_run"]:
                discard(dataset)
                self._tell(report, _would_store(report), options)
                if report.refused and not options["keep_partial"]:
                    raise CommandError("An import would refuse the whole file. --keep-partial stores the other lines.")
                return
        except NothingStored as error:
            self._tell(error.report, _refused(error.report), options)
            keep = "" if options["keep_partial"] else " --keep-partial stores the other lines."
            raise CommandError(f"{error}{keep}") from error
        except (Refusal, Unreadable) as error:
            raise CommandError(str(error)) from error
        self._tell(report, _said(report, dataset), options)

    def _tell(self, report: Report, lines: list[str], options: dict[str, Any]) -> None:
        if options["report"]:
            options["report"].write_text(json.dumps(report.as_json(), ensure_ascii=False, indent=2), encoding="utf-8")
        for line in lines:
            self.stdout.write(line)

    def _dataset(self, options: dict[str, Any]) -> tuple[Dataset, User]:
        slug, owner = options["dataset"], options["owner"]
        person = User.objects.filter(username=owner).first()
        if owner and person is None:
            raise CommandError(f"There is nobody called {owner}.")
        dataset = Dataset.objects.filter(slug=slug).select_related("owner").first()
        if dataset is not None:
            return dataset, person or dataset.owner
        if person is None:
            raise CommandError(f"There is no dataset {slug}. To make it from this log, say whose it is: --owner USER.")
        if not options["path"].exists():
            raise Unreadable(f"There is no {options['path']}.")
        return make_dataset(owner=person, name=slug, source=options["path"].name), person


def _would_store(report: Report) -> list[str]:
    columns = ", ".join(f"{part}={column}" for part, column in report.columns.items())
    lines = [f"{report.read} lines read, {report.void} void, {report.refused} refused. Nothing was stored."]
    lines += [f"Columns: {columns}."] if columns else []
    lines += [f"New: {report.contestants} contestants, {report.samples} samples."]
    return [*lines, *_votes(report), *_refused(report)]


def _votes(report: Report) -> list[str]:
    if not report.votes:
        return []
    known = {"order": report.with_order, "time": report.with_time, "language": report.with_language}
    recorded = ", ".join(f"{name} of {count}" for name, count in known.items())
    return [f"Votes of people: {report.votes} by {report.voters or 'unnamed'} voters; known: {recorded}."]


def _said(report: Report, dataset: Dataset) -> list[str]:
    counts = f"{report.read} lines read: {report.stored} battles stored, {report.completed} completed"
    others = f"{report.known} known before, {report.duplicates} told twice, {report.confirmed} confirmed"
    lines = [f"{counts}, {others}, {report.void} void, {report.refused} refused."]
    lines.append(f"Dataset {dataset.slug}: {report.contestants} new contestants, {report.samples} new samples.")
    lines += _votes(report)
    lines += [f"Board: {slug}" for slug in report.boards]
    lines += [f"Note: {warning}" for warning in report.warnings]
    return lines + _refused(report)


def _refused(report: Report) -> list[str]:
    return [f"Refused: {one.file or 'line'} {one.line}: {one.reason}" for one in report.refusals[:20]]
