"""`manage.py verify`: whether the database has every event and call as it was recorded."""

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from experiments.engine import verification
from experiments.models import Run


class Command(BaseCommand):
    help = (
        "Compare events and calls of runs with their digests, and the database with what this machine noted of its "
        "runs. Names each damaged run; fails if there is one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", nargs="*", type=UUID, help="ids of runs (default: all)")
        accept = "the database is older on purpose: forget what was noted outside it"
        parser.add_argument("--accept-older", action="store_true", help=accept)

    def handle(self, *args: Any, run: list[UUID], accept_older: bool, **options: Any) -> None:
        if accept_older:
            verification.forget_heads()
        runs = Run.objects.filter(pk__in=run) if run else Run.objects.all()
        behind = verification.older_than_noted()
        faults = [f"The database file: {said}" for said in verification.structure()]
        count = runs.count()
        for key, damage in (*behind.items(), *verification.verify(runs.exclude(pk__in=behind))):
            faults.append(f"Run {key}: {verification.sentence(damage)}")
        for fault in faults:
            self.stdout.write(fault)
        if faults:
            raise CommandError(
                f"{len(faults)} faults. Runs that are not named are whole, and go on. What to do: docs/operating.md"
            )
        self.stdout.write(f"{count} runs: every event and call is as it was recorded.")
