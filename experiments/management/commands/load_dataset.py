"""`manage.py load_dataset`: a dataset from a file or folder of this machine, read before the command returns."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.errors import Refusal
from accounts.models import User
from experiments.library.datasets import making
from experiments.library.datasets.process import Refused
from experiments.library.datasets.reasons import in_words
from experiments.models import Dataset

PARTS = "index, instruction, images, category, source, language, metadata, subset"


class Command(BaseCommand):
    help = "Make a dataset of Parquet, CSV, JSON Lines or pictures in a folder per contestant, with outputs if wanted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", type=Path, help="a file, a zip or a folder")
        parser.add_argument("--name", help="what it is called; the file's name unless given")
        parser.add_argument("--slug", default="", help="its name in addresses; made of the name unless given")
        parser.add_argument("--owner", metavar="USER", help="whose it is; the first administrator's unless given")
        parser.add_argument("--modality", choices=Dataset.Modality.values, default="text", help="kind of the outputs")
        parser.add_argument("--subset", default="", help="reads everything as this subset")
        parser.add_argument("--column", action="append", default=[], metavar="PART=COLUMN", help=f"part: {PARTS}")
        parser.add_argument(
            "--output-column", action="append", default=[], metavar="CONTESTANT=COLUMN", help="a contestant's answers"
        )
        parser.add_argument("--outputs", action="append", default=[], metavar="PATH", type=Path, help="further outputs")
        parser.add_argument("--version-name", default="", metavar="NAME_YYYYMMDD", help="experiment of the outputs")
        parser.add_argument("--visibility", choices=Dataset.Visibility.values, default="private")
        parser.add_argument("--description", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._load(options)
        except (Refusal, Refused) as error:
            raise CommandError(str(error)) from error

    def _load(self, options: dict[str, Any]) -> None:
        owner, path = _owner(options["owner"]), options["path"]
        named = {key: options[key] for key in ("slug", "modality", "subset", "visibility", "description")}
        columns = _columns(options["column"], options["output_column"])
        dataset = making.create(owner=owner, name=options["name"] or path.stem, path=path, columns=columns, **named)
        try:
            added = [
                making.add_outputs(dataset, by=owner, path=outputs, version=options["version_name"])
                for outputs in options["outputs"]
            ]
        except BaseException:
            making.remove(dataset, by=owner)
            raise
        self._tell(dataset)
        for outputs, found in zip(options["outputs"], added, strict=True):
            told = ", ".join(f"{name} {count}" for name, count in sorted(found.new.items())) or "none"
            self.stdout.write(f"Outputs added from {outputs}: {told}.")
            self._warn(found.warnings)
        self.stdout.write(f"Next: open {dataset.get_absolute_url()}")

    def _tell(self, dataset: Dataset) -> None:
        samples, contestants = dataset.samples.count(), dataset.contestants.count()
        self.stdout.write(f"Dataset {dataset.slug}: {samples} samples, {contestants} contestants.")
        subsets = dataset.samples.exclude(subset="").order_by().values_list("subset", flat=True).distinct()
        if named := sorted(subsets[:100]):
            self.stdout.write(f"Subsets: {', '.join(named)}.")
        self._warn(dataset.warnings)

    def _warn(self, warnings: list[dict[str, Any]]) -> None:
        for said in in_words(warnings):
            self.stdout.write(f"Warning: {said}")


def _owner(name: str | None) -> User:
    people = User.objects.filter(is_active=True)
    owner = people.filter(username=name).first() if name else people.filter(role="admin").order_by("pk").first()
    if owner is None:
        raise CommandError(f"There is no active person called {name}." if name else "Name the owner with --owner USER.")
    return owner


def _columns(parts: list[str], outputs: list[str]) -> dict[str, Any]:
    columns: dict[str, Any] = dict(_pair(text, "--column") for text in parts)
    return columns | ({"outputs": dict(_pair(text, "--output-column") for text in outputs)} if outputs else {})


def _pair(text: str, option: str) -> tuple[str, str]:
    part, sign, column = text.partition("=")
    if not sign or not part:
        raise CommandError(f"{option} is written PART=COLUMN, not {text}.")
    return part, column
