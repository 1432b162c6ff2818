"""What has happened in the last hours: what failed, what it cost, how much was asked."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.core.cache import caches
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone

from experiments.lab.usage.call_sums import parts
from experiments.lab.usage.days import UNKNOWN, calls_since
from experiments.models import Call
from experiments.models.money import SMALLEST

SECONDS = 15  # so old may it be: it reads the calls of a day
HOURS = 24
FAILED = Q(state__in=(Call.State.FAILED, Call.State.LOST))


@dataclass(frozen=True, slots=True)
class Hour:
    """began: UTC, a full hour. cost: what is known, in US dollars."""

    began: datetime
    calls: int = 0
    failed: int = 0
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Spent:
    """Of today, in UTC. unpriced: ended calls whose cost nobody knows, so that the cost is a lower bound."""

    cost: Decimal
    calls: int
    unpriced: int


@dataclass(frozen=True, slots=True)
class Failures:
    provider: str
    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Lately:
    """failures: of the last hour, the most frequent first. hours: the last full ones and the present one, in order."""

    failures: tuple[Failures, ...]
    spent: Spent
    hours: tuple[Hour, ...]


def lately() -> Lately:
    """As it is, or was some seconds ago. Raises DatabaseError."""
    cache = caches["memory"]
    found = cache.get("lately")
    if found is None:
        found = Lately(_failures(), _spent(), _hours())
        cache.set("lately", found, SECONDS)
    return found  # type: ignore[no-any-return]


def _failures() -> tuple[Failures, ...]:
    recent = Call.objects.filter(FAILED, sent__gte=timezone.now() - timedelta(hours=1)).order_by()
    rows = recent.values_list("model__provider__name", "error_kind").annotate(count=Count("pk"))
    return tuple(Failures(*row) for row in sorted(rows, key=lambda row: (-row[2], row[0], row[1])))


def _spent() -> Spent:
    found: dict[str, Any] = calls_since(timezone.now().date()).aggregate(
        dollars=Sum(parts("cost"), default=0), calls=Count("pk"), unpriced=Count("pk", filter=UNKNOWN)
    )
    return Spent(int(found["dollars"]) * SMALLEST, found["calls"], found["unpriced"])


def _hours() -> tuple[Hour, ...]:
    last = timezone.now().replace(minute=0, second=0, microsecond=0)
    every = [last - timedelta(hours=ago) for ago in reversed(range(HOURS))]
    rows = (
        Call.objects.filter(sent__gte=every[0])
        .order_by()
        .values(began=TruncHour("sent"))
        .annotate(count=Count("pk"), failed=Count("pk", filter=FAILED), dollars=Sum(parts("cost"), default=0))
    )
    found = {
        row["began"]: Hour(row["began"], row["count"], row["failed"], int(row["dollars"]) * SMALLEST) for row in rows
    }
    return tuple(found.get(began, Hour(began)) for began in every)
