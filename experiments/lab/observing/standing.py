"""How things stand at the moment: a few cheap questions to the database and to Redis. What does not answer is None."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import django_rq
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, InterfaceError
from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.utils import timezone
from redis.exceptions import RedisError
from rq import Worker

from experiments.engine.jobs import WORKER_SECONDS
from experiments.lab.observing import backups, counting
from experiments.lab.observing.backups import Backup
from experiments.lab.observing.families import DRIVEN
from experiments.models import BulkExport, Call, Execution, Export, LogImport, Run, RunImport, Upload, WebhookDelivery
from experiments.models.run import DRIVEN_STATES

SECONDS = 2  # so old may it be: many who ask cost no more than one
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


@dataclass(frozen=True, slots=True)
class InRedis:
    """bells: unanswered ones, by queue. gauges: of all processes, added up, by fields of `counting`, as totals are."""

    bells: dict[str, int]
    workers: tuple[AtWork, ...]
    gauges: dict[str, float]
    totals: dict[str, float]


@dataclass(frozen=True, slots=True)
class Standing:
    at: datetime = field(default_factory=timezone.now)
    database: InDatabase | None = None
    redis: InRedis | None = None
    disk_free: int | None = None
    disk_size: int | None = None

    @property
    def queues(self) -> list[str]:
        return list(settings.RQ_QUEUES)


def standing() -> Standing:
    """How it stands, or stood a moment ago."""
    cache = caches["memory"]
    found = cache.get("standing")
    if found is None:
        found = _read()
        cache.set("standing", found, SECONDS)
    return found  # type: ignore[no-any-return]


def _read() -> Standing:
    size, free = _disk()
    return Standing(database=_or_none(_in_database), redis=_or_none(_in_redis), disk_size=size, disk_free=free)


def _or_none(read: Callable[[], Found]) -> Found | None:
    try:
        return read()
    except (DatabaseError, InterfaceError, RedisError, OSError):
        return None


def _disk() -> tuple[int | None, int | None]:
    found = _or_none(lambda: shutil.disk_usage(settings.DATA_DIR))
    return (found.total, found.free) if found else (None, None)


def _in_database() -> InDatabase:
    live = Run.objects.live().order_by()
    of_kinds = live.values_list("experiment__workflow", "state").annotate(count=Count("pk"), oldest=Min("created"))
    return InDatabase(
        runs={(workflow, state): count for workflow, state, count, _oldest in of_kinds},
        oldest=min((oldest for _kind, state, _count, oldest in of_kinds if state == Run.State.QUEUED), default=None),
        leases=_leases(),
        calls=_calls(),
        depth=_depth(),
        backup=backups.last(),
    )


def _leases() -> dict[str, int]:
    """A lease is renewed after a quarter of its time: one with less than half of it left is overdue."""
    soon = Now() + timedelta(seconds=settings.LEASE_SECONDS / 2)
    has_ended = Q(lease_until__lt=Now()) | Q(lease_until__isnull=True)
    driven: dict[str, int] = Run.objects.filter(state__in=DRIVEN_STATES).aggregate(
        held=Count("pk", filter=~has_ended),
        ending=Count("pk", filter=Q(lease_until__gte=Now(), lease_until__lt=soon)),
        ended=Count("pk", filter=has_ended),
    )
    return driven


def _calls() -> dict[str, int]:
    driven = Run.objects.filter(state__in=DRIVEN_STATES).order_by().values("pk")
    sent = Call.objects.filter(run__in=driven, state=Call.State.SENT).order_by()
    return dict(sent.values_list("model__provider__name").annotate(count=Count("pk")))


def _depth() -> dict[str, int]:
    """What waits in the database, which is the truth; the bells in Redis only tell of it. Of ratings nothing waits:
    they are computed anew when something has changed.
    """
    queued = {"state": "queued"}
    waiting = {"state": "waiting"}
    return {
        "engine": Run.objects.filter(state=Run.State.QUEUED).count(),
        "sandbox": Execution.objects.filter(state=Execution.State.WAITING).count(),
        "webhooks": WebhookDelivery.objects.waiting().filter(next_at__lte=timezone.now()).count(),
        "reports": Export.objects.filter(**queued).count(),
        "datasets": sum(kind.objects.filter(**waiting).count() for kind in (Upload, LogImport))
        + sum(kind.objects.filter(**queued).count() for kind in (BulkExport, RunImport)),
    }


def _in_redis() -> InRedis:
    queues = {name: django_rq.get_queue(name) for name in settings.RQ_QUEUES}
    connection = counting.connect()
    names = sorted(connection.smembers(counting.PROCESSES))
    told = connection.mget([f"{counting.PROCESS}:{name}" for name in names]) if names else []
    if gone := [name for name, text in zip(names, told, strict=True) if text is None]:
        connection.srem(counting.PROCESSES, *gone)
    processes = [json.loads(text) for text in told if text]
    return InRedis(
        bells={name: queue.count for name, queue in queues.items()},
        workers=_workers(processes),
        gauges=_sums(processes),
        totals={name: float(value) for name, value in connection.hgetall(counting.TOTALS).items()},
    )


def _workers(processes: list[dict[str, Any]]) -> tuple[AtWork, ...]:
    told = {(one["host"], one["pid"]): one for one in processes}
    workers = Worker.all(connection=django_rq.get_connection("engine"))
    found = [_worker(worker, told.get((worker.hostname, worker.pid))) for worker in workers]
    return tuple(sorted(found, key=lambda one: (one.queues, one.host, one.pid or 0)))


def _worker(worker: Any, told: dict[str, Any] | None) -> AtWork:
    """RQ's own beat comes between jobs; that which tells figures goes on in the middle of one."""
    beat = _aware(worker.last_heartbeat)
    if told:
        latest = datetime.fromtimestamp(told["at"], UTC)
        beat = max(beat, latest) if beat else latest
    runs = told["gauges"].get(json.dumps([DRIVEN.name])) if told else None
    return AtWork(tuple(worker.queue_names()), worker.hostname or "", worker.pid, beat, _whole(runs))


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _aware(moment: Any) -> Any:
    return timezone.make_aware(moment) if moment and timezone.is_naive(moment) else moment


def _sums(processes: list[dict[str, Any]]) -> dict[str, float]:
    sums: Counter[str] = Counter()
    for process in processes:
        sums.update(process["gauges"])
    return dict(sums)
