"""What the operator page shows and the API answers: one report. What is not known is None, in lists nothing."""

from dataclasses import dataclass

from django.utils import timezone
from rest_framework import serializers

from experiments.api.shapes import shape
from experiments.lab.observing import counting
from experiments.lab.observing import status as status_now
from experiments.lab.observing.backups import Backup
from experiments.lab.observing.counting import Family, field_of
from experiments.lab.observing.status import AtWork, Failures, Hour, Lately, Machines, Spent, Status
from experiments.models.run import LIVE_STATES
from experiments.workflows import BROKEN, REGISTRY


@dataclass(frozen=True, slots=True)
class Report:
    """lately: None while the database is away."""

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
        """0 when none is queued."""
        if self.now.database is None:
            return None
        oldest = self.now.database.oldest
        return max(0.0, (timezone.now() - oldest).total_seconds()) if oldest else 0.0

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
    def viewers(self) -> int | None:
        return int(self._gauges(counting.VIEWERS).get((), 0)) if self.now.redis else None

    def _gauges(self, family: Family) -> dict[tuple[str, ...], float]:
        fields = self.now.redis.gauges if self.now.redis else {}
        named = [(field_of(field), value) for field, value in fields.items()]
        return {labels: value for (found, labels), value in named if found == family.name}


def report() -> Report:
    return Report(status_now.status(), status_now.machines(), status_now.lately())


Count = int | None  # null while it is not known

Runs = shape("_Runs", workflow=str, queued=Count, running=Count, waiting=Count, stopping=Count)
Leases = shape(
    "_Leases",
    doc="ending: with less than half of their time left. ended: nobody has taken the run yet.",
    held=int,
    ending=int,
    ended=int,
)
Queue = shape(
    "_Queue",
    doc="waits: pieces of work in the database; null for ratings, of which none waits. "
    "bells: unanswered ones in Redis.",
    name=str,
    waits=Count,
    bells=Count,
    workers=Count,
)
Worker = shape(
    "_Worker",
    AtWork,
    doc="runs: that it drives, as it says itself; null where it drives none by its nature, or has not said so.",
    is_silent=bool,
)
LastBackup = shape(
    "_Backup",
    Backup,
    doc="size: in bytes. sha256: of its manifest, which names the hash of everything. "
    "verified: when `verify_backup` last\nfound it whole; null if it has not.",
)
SpentToday = shape("_Spent", Spent, doc="In US dollars, of today (UTC). unpriced: calls whose cost nobody knows.")


class _Disk(serializers.Serializer[Status]):
    size = serializers.IntegerField(source="disk_size", allow_null=True)
    free = serializers.IntegerField(source="disk_free", allow_null=True)


class OperatorSerializer(serializers.Serializer[Report]):
    """What is not known, as something does not answer, is null. failures: calls of the last hour. last_backup: null,
    too, when there has been none.
    """

    at = serializers.DateTimeField(source="now.at")
    database_up = serializers.BooleanField()
    redis_up = serializers.BooleanField()
    runs = Runs(many=True)
    oldest_queued_seconds = serializers.FloatField(allow_null=True)
    leases = Leases(source="now.database.leases", allow_null=True)
    queues = Queue(many=True)
    workers = Worker(many=True)
    calls = shape("_Calls", provider=str, count=int)(many=True)
    failures = shape("_Failures", Failures)(many=True)
    paused = shape("_Paused", provider=str, models=int)(many=True)
    viewers = serializers.IntegerField(allow_null=True)
    spent_today = SpentToday(source="lately.spent", allow_null=True)
    hours = shape("_Hour", Hour)(many=True)
    disk = _Disk(source="now")
    last_backup = LastBackup(source="now.database.backup", allow_null=True)
    machines = shape("_Machines", Machines, doc="Sizes in bytes.")()
