"""`manage.py restore`: a backup becomes the database, on SQLite or PostgreSQL, whichever it was taken from."""

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from accounts import crypto
from arenasite.backups.archive import SECRETS, BackupRefused, Reader
from arenasite.backups.restoring import restore
from arenasite.supervisor import CannotStart, places
from experiments.lab.health import living_workers
from experiments.models import ProviderKey


class Command(BaseCommand):
    help = (
        "Put a backup into the empty database that DATABASE_URL or ARENA_DATA names, and its files into the data "
        "directory. All of it is read and compared with its hashes first. Stop the platform before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="what is in the database goes; all of it")
        parser.add_argument(
            "--secrets-to", type=Path, metavar="FILE", help="write the backup's secrets there, as lines of environment"
        )

    def handle(self, *args: Any, file: Path, replace: bool, secrets_to: Path | None, **options: Any) -> None:
        try:
            places.prepare(settings.DATA_DIR)
            with places.lock(settings.DATA_DIR):
                if count := living_workers():
                    raise BackupRefused(
                        f"{count} workers are at work here: stop the platform first, on every machine. (After a crash "
                        "they are forgotten within a minute.)"
                    )
                archive = Reader(file)
                if secrets_to and not archive.manifest["has_secrets"]:
                    raise BackupRefused(f"{file} has no secrets inside: it was taken without --with-secrets.")
                files = restore(archive, replace=replace)
                if secrets_to:  # at once: without them nothing of it can be read
                    _write_secrets(archive, secrets_to)
        except (BackupRefused, CannotStart) as error:
            raise CommandError(str(error)) from error
        manifest = archive.manifest
        rows = sum(table["rows"] for table in manifest["tables"].values())
        self.stdout.write(f"Restored: {rows:,} rows, {files:,} files, as they were at {manifest['made']}.")
        self.stdout.write(f"Digest of everything in the backup: {manifest['digest']}.")
        self.stdout.write("Everybody signs in again. Live runs go on when the platform starts.")
        if secrets_to:
            self.stdout.write(f"The secrets are in {secrets_to}: put its lines into the environment before you start.")
        elif unreadable := _unreadable_keys():
            self.stderr.write(
                f"{unreadable} stored provider keys cannot be read with the secrets here: set ARENA_KEY_SECRETS to "
                "those of the lab that the backup comes from, or enter the keys again."
            )


def _write_secrets(archive: Reader, path: Path) -> None:
    with archive.open(SECRETS) as entry:
        secrets = json.load(entry)
    lines = [f"ARENA_SECRET_KEY={secrets['secret_key']}", f"ARENA_KEY_SECRETS={','.join(secrets['key_secrets'])}"]
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("\n".join([*lines, ""]))


def _unreadable_keys() -> int:
    count = 0
    for ciphertext in ProviderKey.objects.active().values_list("ciphertext", flat=True):
        try:
            crypto.decrypt(ciphertext)
        except crypto.Undecipherable:
            count += 1
    return count
