"""What the platform does now, what its last hours brought, and what it runs on: cheap questions to the database and to
Redis, whose answers are kept for a moment, so that many readers cost no more than one. What does not answer is None.
"""

import json
import platform
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import django
import django_rq
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Now, TruncHour
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Worker

from experiments.engine.jobs import WORKER_SECONDS
from experiments.lab.observing import backups, counting
from experiments.lab.observing.backups import Backup
from experiments.lab.observing.counting import Family, field_of
from experiments.lab.observing.limits import ModelUse, in_use
from experiments.lab.usage.days import UNKNOWN, calls_since, parts
from experiments.models import (
    BulkExport,
    Call,
    Execution,
    Export,
    HandedCall,
    LogImport,
    Run,
    RunImport,
    Upload,
    WebhookDelivery,
)
from experiments.models.money import SMALLEST
from experiments.models.run import DRIVEN_STATES, LIVE_STATES
from experiments.workflows import BROKEN, REGISTRY

STATUS_SECONDS, LATELY_SECONDS, MACHINES_SECONDS = 2, 15, 60  # so old may each of them be
HOURS = 24
FAILED = Q(state__in=(Call.State.FAILED, Call.State.LOST))
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class AtWork:
    """A worker as RQ knows it. runs: that it drives, as it says itself; None where it drives none by its nature."""

    queues: tuple[str, ...]
    host: str
    pid: int | None
    beat: datetime | None
    runs: int | None

    @property
    def is_silent(self) -> bool:
        return self.beat is None or self.beat < timezone.now() - timedelta(seconds=WORKER_SECONDS)


@dataclass(frozen=True, slots=True)
class InDatabase:
    """runs: by workflow and state. leases: how many are held, end soon, and have ended. calls: under way, by provider.
    depth: what waits, by queue. backup: the last; None when there has been none.
    """

    runs: dict[tuple[str, str], int]
    oldest: datetime | None
    leases: dict[str, int]
    calls: dict[str, int]
    depth: dict[str, int]
    backup: Backup | None

    @property
    def oldest_queued_seconds(self) -> float:
        """0 when none is queued."""
        return max(0.0, (timezone.now() - self.oldest).total_seconds()) if self.oldest else 0.0


@dataclass(frozen=True, slots=True)
class InRedis:
    """jobs: that wait, by queue. gauges: of all processes, added up, by fields of `counting`, as totals are. limits: of
    models that are asked.
    """

    jobs: dict[str, int]
    workers: tuple[AtWork, ...]
    gauges: dict[str, float]
    totals: dict[str, float]
    limits: tuple[ModelUse, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """disk_free, disk_size: in bytes."""

    at: datetime = field(default_factory=timezone.now)
    database: InDatabase | None = None
    redis: InRedis | None = None
    disk_free: int | None = None
    disk_size: int | None = None

    @property
    def queues(self) -> list[str]:
        return [name for name in settings.RQ_QUEUES if name != "callers" or settings.CALLERS]


@dataclass(frozen=True, slots=True)
class Hour:
    """began: UTC, a full hour. cost: what is known, in US dollars."""

    began: datetime
    calls: int = 0
    failed: int = 0
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Spent:
    """In US dollars, of today (UTC). unpriced: calls whose cost nobody knows."""

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


@dataclass(frozen=True, slots=True)
class Machines:
    """Sizes in bytes. redis_limit: None where Redis may take what it wants."""

    database: str
    database_version: str | None
    database_size: int | None
    redis_version: str | None
    redis_memory: int | None
    redis_limit: int | None
    platform_version: str
    python_version: str
    django_version: str


@dataclass(frozen=True, slots=True)
class Report:
    """What the operator page shows and the API answers. What is not known is None, in lists nothing. lately: None while
    the database is away.
    """

    now: Status
    machines: Machines
    lately: Lately | None

    @property
    def database_up(self) -> bool:
        return self.now.database is not None

    @property
    def redis_up(self) -> bool:
        return self.now.redis is not None

    @property
    def runs(self) -> list[dict[str, object]]:
        """One row for each workflow, with how many of its runs are in each state; None while that is not known."""
        found = self.now.database
        return [
            {
                "workflow": workflow,
                **{state.value: found.runs.get((workflow, state.value), 0) if found else None for state in LIVE_STATES},
            }
            for workflow in REGISTRY
        ]

    @property
    def broken_workflows(self) -> dict[str, str]:
        """Installed workflows that could not be loaded, with the reason."""
        return BROKEN

    @property
    def oldest_queued_seconds(self) -> float | None:
        return self.now.database.oldest_queued_seconds if self.now.database else None

    @property
    def queues(self) -> list[dict[str, object]]:
        """waits: pieces of work; None also for ratings, of which nothing waits. workers: those that were heard of."""
        database, redis = self.now.database, self.now.redis
        alive = [worker for worker in self.workers if not worker.is_silent]
        return [
            {
                "name": name,
                "waits": database.depth.get(name) if database else None,
                "bells": redis.jobs.get(name) if redis else None,
                "workers": sum(name in worker.queues for worker in alive) if redis else None,
            }
            for name in self.now.queues
        ]

    @property
    def workers(self) -> tuple[AtWork, ...]:
        return self.now.redis.workers if self.now.redis else ()

    @property
    def calls(self) -> list[dict[str, object]]:
        found = self.now.database.calls if self.now.database else {}
        return [{"provider": provider, "count": count} for provider, count in sorted(found.items())]

    @property
    def failures(self) -> tuple[Failures, ...]:
        return self.lately.failures if self.lately else ()

    @property
    def hours(self) -> tuple[Hour, ...]:
        return self.lately.hours if self.lately else ()

    @property
    def paused(self) -> list[dict[str, object]]:
        """Providers that limit calls, with the number of models that are asked nothing for a while."""
        found = self._gauges(counting.PAUSED)
        return [{"provider": labels[0], "models": int(count)} for labels, count in sorted(found.items())]

    @property
    def limits(self) -> tuple[ModelUse, ...]:
        return self.now.redis.limits if self.now.redis else ()

    @property
    def viewers(self) -> int | None:
        return int(self._gauges(counting.VIEWERS).get((), 0)) if self.now.redis else None

    def _gauges(self, family: Family) -> dict[tuple[str, ...], float]:
        fields = self.now.redis.gauges if self.now.redis else {}
        named = [(field_of(field), value) for field, value in fields.items()]
        return {labels: value for (found, labels), value in named if found == family.name}


def report() -> Report:
    return Report(status(), machines(), lately())


def status() -> Status:
    """As it is, or was two seconds ago."""
    return caches["memory"].get_or_set("status", _status, STATUS_SECONDS)  # type: ignore[return-value]


def lately() -> Lately | None:
    """As it is, or was some seconds ago: it reads the calls of a day. None while the database is away."""
    return _or_none(lambda: caches["memory"].get_or_set("lately", _lately, LATELY_SECONDS))


def machines() -> Machines:
    """As they are, or were a minute ago; what does not answer is asked again after a second."""
    cache = caches["memory"]
    found = cache.get("machines")
    if found is None:
        found = _machines()
        cache.set("machines", found, MACHINES_SECONDS if None not in (found.database_size, found.redis_memory) else 1)
    return found  # type: ignore[no-any-return]


def _or_none(read: Callable[[], Found]) -> Found | None:
    try:
        return read()
    except (DatabaseError, InterfaceError, RedisError, OSError):
        return None


def _status() -> Status:
    disk = _or_none(lambda: shutil.disk_usage(settings.DATA_DIR))
    size, free = (disk.total, disk.free) if disk else (None, None)
    return Status(database=_or_none(_in_database), redis=_or_none(_in_redis), disk_size=size, disk_free=free)


def _in_database() -> InDatabase:
    live = Run.objects.live().order_by()
    of_kinds = live.values_list("experiment__workflow", "state").annotate(count=Count("pk"), oldest=Min("created"))
    driven = Run.objects.filter(state__in=DRIVEN_STATES)
    sent = Call.objects.filter(run__in=driven.order_by().values("pk"), state=Call.State.SENT).order_by()
    soon = Now() + timedelta(seconds=settings.LEASE_SECONDS / 2)  # renewed after a quarter, it is overdue by then
    has_ended = Q(lease_until__lt=Now()) | Q(lease_until__isnull=True)
    return InDatabase(
        runs={(workflow, state): count for workflow, state, count, _oldest in of_kinds},
        oldest=min((oldest for _kind, state, _count, oldest in of_kinds if state == Run.State.QUEUED), default=None),
        leases=driven.aggregate(
            held=Count("pk", filter=~has_ended),
            ending=Count("pk", filter=Q(lease_until__gte=Now(), lease_until__lt=soon)),
            ended=Count("pk", filter=has_ended),
        ),
        calls=dict(sent.values_list("model__provider__name").annotate(count=Count("pk"))),
        depth=_depth(),
        backup=backups.last(),
    )


def _depth() -> dict[str, int]:
    """What waits in the database, which is the truth; the jobs in Redis only tell of it. Of ratings nothing waits: they
    are computed anew when something has changed.
    """
    queued = {"state": "queued"}
    waiting = {"state": "waiting"}
    handed = {"callers": HandedCall.objects.unclaimed().count()} if settings.CALLERS else {}
    return handed | {
        "engine": Run.objects.filter(state=Run.State.QUEUED).count(),
        "sandbox": Execution.objects.filter(state=Execution.State.WAITING).count(),
        "webhooks": WebhookDelivery.objects.waiting().filter(next_at__lte=timezone.now()).count(),
        "reports": Export.objects.filter(**queued).count(),
        "datasets": sum(kind.objects.filter(**waiting).count() for kind in (Upload, LogImport))
        + sum(kind.objects.filter(**queued).count() for kind in (BulkExport, RunImport)),
    }


def _in_redis() -> InRedis:
    redis = counting.connect()
    names = sorted(redis.smembers(counting.PROCESSES))
    told = redis.mget([f"{counting.PROCESS}:{name}" for name in names]) if names else []
    if gone := [name for name, text in zip(names, told, strict=True) if text is None]:
        redis.srem(counting.PROCESSES, *gone)
    processes = [json.loads(text) for text in told if text]
    gauges: Counter[str] = Counter()
    for process in processes:
        gauges.update(process["gauges"])
    told_by = {(one["host"], one["pid"]): one for one in processes}
    workers = Worker.all(connection=django_rq.get_connection("engine"))
    found = [_worker(worker, told_by.get((worker.hostname, worker.pid))) for worker in workers]
    return InRedis(
        jobs={name: django_rq.get_queue(name).count for name in settings.RQ_QUEUES},
        workers=tuple(sorted(found, key=lambda one: (one.queues, one.host, one.pid or 0))),
        gauges=dict(gauges),
        totals={name: float(value) for name, value in redis.hgetall(counting.TOTALS).items()},
        limits=in_use(redis),
    )


def _worker(worker: Any, told: dict[str, Any] | None) -> AtWork:
    """RQ's own heartbeat comes between jobs; that which sends figures goes on in the middle of one."""
    beat, runs = worker.last_heartbeat, None
    if beat and timezone.is_naive(beat):
        beat = timezone.make_aware(beat)
    if told:
        latest = datetime.fromtimestamp(told["at"], UTC)
        beat = max(beat, latest) if beat else latest
        runs = told["gauges"].get(json.dumps([counting.DRIVEN.name]))
    driven = None if runs is None else int(runs)
    return AtWork(tuple(worker.queue_names()), worker.hostname or "", worker.pid, beat, driven)


def _lately() -> Lately:
    now = timezone.now()
    recent = Call.objects.filter(FAILED, sent__gte=now - timedelta(hours=1)).order_by()
    failures = recent.values_list("model__provider__name", "error_kind").annotate(count=Count("pk"))
    today = calls_since(now.date()).aggregate(
        dollars=Sum(parts("cost"), default=0), calls=Count("pk"), unpriced=Count("pk", filter=UNKNOWN)
    )
    last = now.replace(minute=0, second=0, microsecond=0)
    every = [last - timedelta(hours=ago) for ago in reversed(range(HOURS))]
    by_hour = Call.objects.filter(sent__gte=every[0]).order_by().values(began=TruncHour("sent"))
    rows = by_hour.annotate(
        count=Count("pk"), failed_=Count("pk", filter=FAILED), dollars=Sum(parts("cost"), default=0)
    )
    hours = {
        row["began"]: Hour(row["began"], row["count"], row["failed_"], int(row["dollars"]) * SMALLEST) for row in rows
    }
    return Lately(
        tuple(Failures(*row) for row in sorted(failures, key=lambda row: (-row[2], row[0], row[1]))),
        Spent(int(today["dollars"]) * SMALLEST, today["calls"], today["unpriced"]),
        tuple(hours.get(began, Hour(began)) for began in every),
    )


def _machines() -> Machines:
    version, size = _or_none(_database) or (None, None)
    redis = _or_none(lambda: dict(counting.connect().info())) or {}
    return Machines(
        database="PostgreSQL" if connection.vendor == "postgresql" else "SQLite",
        database_version=version,
        database_size=size,
        redis_version=redis.get("valkey_version") or redis.get("redis_version"),
        redis_memory=redis.get("used_memory"),
        redis_limit=redis.get("maxmemory") or None,
        platform_version=str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        python_version=platform.python_version(),
        django_version=django.get_version(),
    )


def _database() -> tuple[str, int]:
    """Its version and size; SQLite's with what is written ahead, which can be as long."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
            version, size = cursor.fetchone()
            return str(version).split(" ")[0], int(size)
        cursor.execute("SELECT sqlite_version()")
        name = str(settings.DATABASES["default"]["NAME"])
        files = [Path(name), Path(f"{name}-wal")]
        return str(cursor.fetchone()[0]), sum(file.stat().st_size for file in files if file.is_file())
