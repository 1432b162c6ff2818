"""This machine beside the others, in words for its operator: what it has in common with them, and its clock."""

from datetime import UTC, datetime

from django.utils.translation import gettext as _

from accounts import machines
from experiments.tasks import clock

WRONG_BY = 5.0  # seconds; second factors and signed links bear half a minute


def differences() -> list[str]:
    """Why it should not take part, in sentences. Raises DatabaseError."""
    return machines.differences()


def seconds_off() -> float:
    """How far its clock is ahead of the database's; negative where it is behind. Raises DatabaseError."""
    return (datetime.now(UTC) - clock.read()).total_seconds()


def word_on_clock() -> str:
    """ "" where it is right. Leases, locks and limits of time go by the database's clock, so that nothing is lost."""
    off = seconds_off()
    if abs(off) < WRONG_BY:
        return ""
    return _(
        "The clock of this machine and that of the database differ by %(seconds)s seconds: codes of second factors may "
        "be refused, and times are shown wrong. Set both by NTP."
    ) % {"seconds": round(abs(off))}
