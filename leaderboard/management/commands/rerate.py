"""Counts every board anew from its battles, and computes its ladder."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from experiments.models import Ballot, Board
from experiments.workflows.battles.campaign import counting
from leaderboard.boards import compute, council
from leaderboard.models import Ladder


class Command(BaseCommand):
    help = "Count the boards' battles anew and compute their ladders; all of them unless ladders are named."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("ladders", nargs="*", metavar="LADDER", help="slugs, as in the ladder's address")
        parser.add_argument(
            "--check", action="store_true", help="only say what differs; exit with 1 when anything does"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        began, wrong = time.perf_counter(), 0
        for ladder in self._ladders(options["ladders"]):
            wrong += self._one(ladder, only_checks=options["check"])
        self.stdout.write(f"{time.perf_counter() - began:.2f} s in all")
        if options["check"] and wrong:
            raise CommandError(f"{wrong} counts of pairs differ from the battles. `manage.py rerate` makes them right.")

    def _ladders(self, slugs: list[str]) -> list[Ladder]:
        for board in Board.objects.filter(ladder__isnull=True).select_related("dataset", "judge_model"):
            compute.ensure_ladder(board)
        if Ballot.objects.exists():
            council.ladder()
        ladders = Ladder.objects.select_related("board__dataset").defer("board__params").order_by("pk")
        if unknown := sorted(set(slugs) - set(ladders.values_list("slug", flat=True))):
            raise CommandError(f"There is no ladder {', '.join(unknown)}. Leave the names out to take all.")
        return list(ladders.filter(slug__in=slugs) if slugs else ladders)

    def _one(self, ladder: Ladder, *, only_checks: bool) -> int:
        """How many counts differ from what the battles say."""
        began, done, wrong = time.perf_counter(), "nothing to count", 0
        if ladder.board is not None and only_checks:
            wrong = counting.differences(ladder.board)
            done = f"{wrong} counts differ" if wrong else "counts agree"
        elif ladder.board is not None:
            done = f"{counting.recount(ladder.board)} battles counted"
        if not only_checks:
            compute.refresh(ladder)
        self.stdout.write(f"{ladder.slug}: {done} in {time.perf_counter() - began:.2f} s")
        return wrong
