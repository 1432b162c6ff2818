"""`manage.py sweep`: wake what nobody drives, and look after webhooks. The workers do it all the time; this is for a
timer beside them.
"""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError, close_old_connections

from experiments.engine.jobs import sweep
from experiments.lab.webhooks import delivering


class Command(BaseCommand):
    help = "Ring once if any run has no driver, or a webhook is to be told; forget what webhooks were told long ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--every", type=float, metavar="SECONDS", help="go on for ever, with this pause")

    def handle(self, *args: Any, every: float | None, **options: Any) -> None:
        if every is None:
            self.stdout.write(f"{sweep()} runs wait for a driver.")
            delivering.sweep()
            return
        while True:
            self._sweep_once()
            time.sleep(max(every, 0.1))

    def _sweep_once(self) -> None:
        close_old_connections()
        try:
            if waiting := sweep():
                self.stdout.write(f"{waiting} runs wait for a driver.")
            delivering.sweep()
        except DatabaseError as error:
            self.stderr.write(f"The database does not answer ({type(error).__name__}); trying again.")
