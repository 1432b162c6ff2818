"""What time it is: by the database's clock, which all machines have in common. What one machine writes and another
judges by, such as a lease, a lock or the time of the next attempt, is told by no other. `Every` is for what one process
repeats by itself, and uses that process's monotonic clock.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models.functions import Now

SYNC_SECONDS = 30.0  # between two looks at the database's clock; in between, time passes as this machine counts it


@dataclass(slots=True)
class Every:
    """Says once in so many seconds that something is due, by this machine's monotonic clock; the first time at once."""

    seconds: float
    due: float = 0.0

    def is_due(self) -> bool:
        now = time.monotonic()
        if now < self.due:
            return False
        self.due = now + self.seconds
        return True


class _Reading:
    """The last look at the database's clock, and when it was by this machine's monotonic one."""

    moment: datetime | None = None
    at = 0.0


def now() -> datetime:
    """The time as a value, where an expression cannot be used. Raises DatabaseError."""
    if connection.vendor == "sqlite":  # it is told the time by this machine, whose file it is
        return datetime.now(UTC)
    passed = time.monotonic() - _Reading.at
    if _Reading.moment is None or passed > SYNC_SECONDS:
        _Reading.moment, _Reading.at, passed = read(), time.monotonic(), 0.0
    return _Reading.moment + timedelta(seconds=passed)


def read() -> datetime:
    """What the database's clock says at this moment. Raises DatabaseError."""
    if connection.vendor == "sqlite":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT STATEMENT_TIMESTAMP()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def ago(time_passed: timedelta) -> Any:
    """The moment so long before the statement in which it is used."""
    return Now() - time_passed


def ahead(time_to_pass: timedelta) -> Any:
    return Now() + time_to_pass
