"""`manage.py check_budgets`: proves that the accounts of budgets equal the sums over their calls."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from experiments.lab.budgets import checks as budget_checks


class Command(BaseCommand):
    help = "Compare what is counted against budgets with the sums over the calls. Fails when they differ."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="put right what is wrong")

    def handle(self, *args: Any, repair: bool, **options: Any) -> None:
        if repair and (released := budget_checks.release_stranded()):
            self.stdout.write(f"{released} calls of runs that are over were settled.")
        differences = budget_checks.check(repair=repair)
        for difference in differences:
            self.stdout.write(str(difference))
        if differences and not repair:
            raise CommandError(f"{len(differences)} counters are wrong: put them right with --repair.")
        self.stdout.write(f"{len(differences)} counters were put right." if differences else "All accounts are right.")
