"""When the last backup was taken, and whether it was read again: both stand in the audit record.

A backup does not have the entry that tells of it, as it shows the moment before.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from accounts import audit
from accounts.models import AuditEntry

TARGET = "backup"
TAKEN, VERIFIED = "backup", "verify_backup"  # the commands


@dataclass(frozen=True, slots=True)
class Backup:
    """name: of the file. size: in bytes. verified: when it was last found to be whole; None if nobody has looked."""

    at: datetime
    name: str
    size: int
    sha256: str
    verified: datetime | None


def record(command: str, path: Path, digest: str) -> None:
    """digest: of its manifest, by which a backup is known wherever it lies."""
    audit.record(
        audit.Action.EXPORTED,
        by=None,
        target=TARGET,
        name=path.name,
        command=command,
        bytes=path.stat().st_size,
        sha256=digest,
    )


def last() -> Backup | None:
    """None when there has been none."""
    known = AuditEntry.objects.filter(target=TARGET).order_by("-id")
    taken = known.filter(detail__command=TAKEN).first()
    if taken is None:
        return None
    told = taken.detail
    read = known.filter(detail__command=VERIFIED, detail__sha256=told["sha256"]).first()
    return Backup(taken.at, taken.name, told["bytes"], told["sha256"], read.at if read else None)
