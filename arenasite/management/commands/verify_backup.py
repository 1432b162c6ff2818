"""`manage.py verify_backup`: whether a backup is whole. It needs no database; where there is one, it goes on record."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arenasite.backups.archive import BackupRefused, Reader
from experiments.lab.observing.backups import NOT_RECORDED, VERIFIED, record


class Command(BaseCommand):
    help = "Read a backup from end to end, compare every hash, and say what is in it. The file is not changed."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            manifest = Reader(file).manifest
        except BackupRefused as error:
            raise CommandError(str(error)) from error
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(f"Whole: {rows:,} rows of {len(manifest['tables'])} tables, {manifest['files']:,} files.")
        self.stdout.write(
            f"Taken at {manifest['made']} from {manifest['database']}, with {manifest['live_runs']} live runs."
        )
        self.stdout.write(f"Digest of everything in it: {manifest['digest']}.")
        self.stdout.write(f"Secrets of the lab: {'inside' if manifest['has_secrets'] else 'not inside'}.")
        if not record(VERIFIED, file, manifest["digest"]):
            self.stderr.write(NOT_RECORDED)
