"""Import a file of the original batch research as a study."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.errors import Refusal
from accounts.models import User
from experiments.runs.reports import json_values
from experiments.studies.importing import store_batch


class Command(BaseCommand):
    help = "Imports a stored batch of the original StarChamber (JSON) as a study; the same file is imported once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--owner", required=True, help="user name of whose study it becomes")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owner = User.objects.get(username=options["owner"])
            value = json_values.parse(options["file"].read_bytes())
            study, is_new = store_batch(value, name=options["file"].name, by=owner)
        except (Refusal, OSError, User.DoesNotExist) as error:
            raise CommandError(str(error)) from error
        said = "imported" if is_new else "was imported before"
        self.stdout.write(f"{study.title}: {study.planned_runs.count()} runs, {said}: {study.get_absolute_url()}")
