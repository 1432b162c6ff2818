"""`manage.py export_battles`: the battles of a board as logs."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError

from accounts import audit
from experiments.models import Board
from experiments.workflows.battles.campaign.logs.packing import FORMATS


class Command(BaseCommand):
    help = "Write the battles of a board: the slim or the audit log of GenArena's shape, all that is known, or a zip."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("board", help="the board's slug, which is its ladder's too")
        parser.add_argument("--format", choices=list(FORMATS), default="slim")
        parser.add_argument("--subset", metavar="NAME", help="only this one, in lines without `subset`")
        parser.add_argument("--output", type=Path, metavar="PATH", help="a file; standard output when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        board = Board.objects.filter(slug=options["board"]).select_related("dataset").first()
        if board is None:
            known = ", ".join(Board.objects.values_list("slug", flat=True)[:20])
            raise CommandError(f"There is no board {options['board']}. There are: {known or 'none yet'}.")
        audit.record(audit.Action.EXPORTED, by=None, of=board, command="export_battles")
        chunks = FORMATS[options["format"]].chunks(board, options["subset"])
        path: Path | None = options["output"]
        if path is None:
            _write(sys.stdout.buffer, chunks)
            return
        unfinished = path.with_name(f"{path.name}.part")
        with unfinished.open("wb") as file:
            _write(file, chunks)
        unfinished.replace(path)
        self.stdout.write(f"Wrote {path}.")


def _write(file: IO[bytes], chunks: Any) -> None:
    for chunk in chunks:
        file.write(chunk)
