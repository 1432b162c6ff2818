"""`manage.py backup`: everything in one file, while runs go on."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arenasite.backups.archive import BackupRefused
from arenasite.backups.taking import take
from experiments.lab.observing.backups import NOT_RECORDED, TAKEN, record

WITHOUT = (
    "The secrets are not in it (ARENA_SECRET_KEY, ARENA_KEY_SECRETS): keep them apart, since stored provider keys and "
    "second factors cannot be read without them."
)
WITH = "The secrets of the lab are in it: whoever reads this file can read every stored provider key."


class Command(BaseCommand):
    help = (
        "Back up people, runs, datasets, ladders and their files as they are at this moment; the platform may be at "
        "work. The file fits both SQLite and PostgreSQL."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("to", type=Path, metavar="FILE|DIR", help="in a directory, the file is named by the time")
        parser.add_argument("--with-secrets", action="store_true", help="put the lab's secrets into it, too")
        parser.add_argument("--with-exports", action="store_true", help="finished exports, too; they can be made again")

    def handle(self, *args: Any, to: Path, with_secrets: bool, with_exports: bool, **options: Any) -> None:
        try:
            path, manifest, digest = take(to, with_secrets=with_secrets, with_exports=with_exports)
        except BackupRefused as error:
            raise CommandError(str(error)) from error
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes, {rows:,} rows, {manifest['files']:,} files.")
        self.stdout.write(f"{manifest['live_runs']} runs were live; they go on where they were after a restore.")
        self.stdout.write(f"Digest of everything in it: {digest}.")
        self.stdout.write(WITH if with_secrets else WITHOUT)
        if not record(TAKEN, path, digest):
            self.stderr.write(NOT_RECORDED)
