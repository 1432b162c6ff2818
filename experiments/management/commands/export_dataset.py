"""`manage.py export_dataset`: a dataset as Parquet with a card, in a zip or a folder."""

import tempfile
import zipfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import audit
from experiments.library.datasets import hub
from experiments.models import Dataset


class Command(BaseCommand):
    help = "Write a dataset as Parquet with README.md and croissant.json, as the Hub and load_dataset read it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="its short name")
        parser.add_argument(
            "--output", type=Path, required=True, metavar="PATH", help="a file NAME.zip, or a new folder"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(slug=options["dataset"], state=Dataset.State.READY).first()
        if dataset is None:
            known = ", ".join(Dataset.objects.filter(state=Dataset.State.READY).values_list("slug", flat=True)[:20])
            raise CommandError(f"There is no dataset {options['dataset']}. There are: {known or 'none yet'}.")
        path: Path = options["output"]
        if path.exists():
            raise CommandError(f"{path} exists already. Name another file or folder.")
        audit.record(audit.Action.EXPORTED, by=None, of=dataset, command="export_dataset")
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part") as file:
            for chunk in hub.dataset_zip(dataset):
                file.write(chunk)
            file.flush()
            if path.suffix == ".zip":
                path.hardlink_to(file.name)
            else:
                with zipfile.ZipFile(file.name) as archive:
                    archive.extractall(path)
        self.stdout.write(f"Wrote {path}.")
