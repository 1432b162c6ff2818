"""When the last backup was taken, and whether it was verified: both are in the audit log.

A backup does not have the entry that tells of it, as it shows the moment before.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from accounts import audit
from accounts.models import AuditEntry

TARGET = "backup"
TAKEN, VERIFIED = "backup", "verify_backup"  # the commands
NOT_RECORDED = (
    "This is not on record, and the page of the operator does not show it: the lab's database is not at hand."
)


@dataclass(frozen=True, slots=True)
class Backup:
    """name: of the file. size: in bytes. verified: when it was last found to be whole; None if it was not verified."""

    at: datetime
    name: str
    size: int
    sha256: str
    verified: datetime | None


def record(command: str, path: Path, digest: str) -> bool:
    """digest: of its manifest, by which a backup is known wherever it lies. False where the database is not at hand:
    the backup is as good without.
    """
    if connection.vendor == "sqlite" and not Path(settings.DATABASES["default"]["NAME"]).exists():
        return False  # to ask would make an empty one
    size, action = path.stat().st_size, audit.Action.EXPORTED
    try:
        with transaction.atomic():
            audit.record(action, by=None, target=TARGET, name=path.name, command=command, bytes=size, sha256=digest)
    except DatabaseError:
        return False
    return True


def last() -> Backup | None:
    """None when there has been none."""
    known = AuditEntry.objects.filter(target=TARGET).order_by("-id")
    taken = known.filter(detail__command=TAKEN).first()
    if taken is None:
        return None
    told = taken.detail
    read = known.filter(detail__command=VERIFIED, detail__sha256=told["sha256"]).first()
    return Backup(taken.at, taken.name, told["bytes"], told["sha256"], read.at if read else None)
