"""What the operator page shows and the API answers: one report. What is not known is None, in lists nothing."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from experiments.lab.observing import families
from experiments.lab.observing.counting import field_of
from experiments.lab.observing.lately import Lately, lately
from experiments.lab.observing.machines import Machines, machines
from experiments.lab.observing.standing import InDatabase, InRedis, Standing, standing
from experiments.models.run import LIVE_STATES
from experiments.workflows import BROKEN, REGISTRY


@dataclass(frozen=True, slots=True)
class Report:
    """now, machines: always. lately: None while the database is away."""

    now: Standing
    machines: Machines
    lately: Lately | None

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
        return [_queue(name, self.now.database, self.now.redis) for name in self.now.queues]

    @property
    def workers(self) -> list[dict[str, object]]:
        found = self.now.redis.workers if self.now.redis else ()
        return [{**asdict(worker), "queues": list(worker.queues), "is_silent": worker.is_silent} for worker in found]

    @property
    def calls(self) -> list[dict[str, object]]:
        found = self.now.database.calls if self.now.database else {}
        return [{"provider": provider, "count": count} for provider, count in sorted(found.items())]

    @property
    def failures(self) -> list[dict[str, object]]:
        return [asdict(one) for one in self.lately.failures] if self.lately else []

    @property
    def paused(self) -> list[dict[str, object]]:
        """Providers that limit calls, with the number of models that are asked nothing for a while."""
        found = self._gauges(families.PAUSED.name)
        return [{"provider": labels[0], "models": int(count)} for labels, count in sorted(found.items())]

    @property
    def viewers(self) -> int | None:
        return int(self._gauges(families.VIEWERS.name).get((), 0)) if self.now.redis else None

    def as_json(self) -> dict[str, object]:
        database = self.now.database
        return {
            "at": self.now.at,
            "database_up": database is not None,
            "redis_up": self.now.redis is not None,
            "runs": self.runs,
            "oldest_queued_seconds": self.oldest_queued_seconds,
            "leases": database.leases if database else None,
            "queues": self.queues,
            "workers": self.workers,
            "calls": self.calls,
            "failures": self.failures,
            "paused": self.paused,
            "viewers": self.viewers,
            "spent_today": asdict(self.lately.spent) if self.lately else None,
            "hours": [asdict(hour) for hour in self.lately.hours] if self.lately else [],
            "disk": {"size": self.now.disk_size, "free": self.now.disk_free},
            "last_backup": asdict(database.backup) if database and database.backup else None,
            "machines": asdict(self.machines),
        }

    def _gauges(self, name: str) -> dict[tuple[str, ...], float]:
        fields = self.now.redis.gauges if self.now.redis else {}
        named = [(field_of(field), value) for field, value in fields.items()]
        return {labels: value for (found, labels), value in named if found == name}


def report() -> Report:
    return Report(standing(), machines(), _lately())


def _lately() -> Lately | None:
    try:
        return lately()
    except (DatabaseError, InterfaceError):
        return None


def _queue(name: str, database: InDatabase | None, redis: InRedis | None) -> dict[str, Any]:
    alive = [worker for worker in redis.workers if name in worker.queues and not worker.is_silent] if redis else []
    return {
        "name": name,
        "waits": database.depth.get(name) if database else None,
        "bells": redis.bells.get(name) if redis else None,
        "workers": len(alive) if redis else None,
    }
