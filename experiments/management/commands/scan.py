"""`manage.py scan`: look through recorded transcripts for refusals, loops, confused roles and what else has a flag."""

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from experiments.models import Run
from experiments.review import flagging
from experiments.workflows.base.flags import VERSION


class Command(BaseCommand):
    help = "Set the flags that today's scanners find in recorded messages. Flags that a person has dismissed stay away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="*", help="ids of runs; without one, every run")

    def handle(self, *args: Any, **options: Any) -> None:
        every = Run.objects.order_by("created", "pk").values_list("pk", flat=True)
        runs = [self._known(text) for text in options["run"]] or every.iterator()
        count = flagging.scan(runs)
        self.stdout.write(f"{count} flags are new, found by {VERSION}.")

    def _known(self, text: str) -> UUID:
        try:
            key = UUID(text)
        except ValueError as error:
            raise CommandError(f"{text} is no id of a run. The address of a run's page ends with its id.") from error
        if not Run.objects.filter(pk=key).exists():
            raise CommandError(f"There is no run {text}.")
        return key
