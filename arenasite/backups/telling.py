"""What became of a backup goes on record, where the database is at hand. The backup is as good without."""

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from experiments.lab.observing import backups

NOT_RECORDED = (
    "This is not on record, and the page of the operator does not show it: the lab's database is not at hand."
)


def recorded(command: str, path: Path, digest: str) -> bool:
    if connection.vendor == "sqlite" and not Path(settings.DATABASES["default"]["NAME"]).exists():
        return False  # to ask would make an empty one
    try:
        with transaction.atomic():
            backups.record(command, path, digest)
    except DatabaseError:
        return False
    return True
