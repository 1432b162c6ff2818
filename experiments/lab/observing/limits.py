"""How much of the limits that the lab shares is in use (`engine/limit_scripts.py`), as administrators see it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from experiments.engine.limit_scripts import MINUTE, PREFIX, STALE_SECONDS


@dataclass(frozen=True, slots=True)
class ModelUse:
    """used: calls under way in the whole lab, of limit. waiting: calls that wait for their turn. requests, tokens: of
    the last minute; None where the provider has no limit of them. closed_until: it takes no requests before.
    """

    provider: str
    model: str
    used: int
    limit: int
    waiting: int
    requests: int | None
    requests_limit: int | None
    tokens: int | None
    tokens_limit: int | None
    closed_until: datetime | None

    @property
    def is_idle(self) -> bool:
        return not (self.used or self.waiting or self.requests or self.tokens or self.closed_until)


def in_use(redis: Any) -> tuple[ModelUse, ...]:
    """The models that are asked, were within the last minute, or are closed, by provider and name. redis: a connection
    that decodes its answers. Raises RedisError and OSError.
    """
    models = sorted(redis.smembers(f"{PREFIX}models"))
    pipeline = redis.pipeline(transaction=False)
    pipeline.time()
    pipeline.zrange(f"{PREFIX}workers", 0, -1, withscores=True)
    for model in models:
        for kind in ("state", "slots", "queue", "minute"):
            pipeline.hgetall(f"{PREFIX}{kind}:{model}")
    (seconds, micros), workers, *found = pipeline.execute()
    now = seconds + micros / 1e6
    leased = {name for name, ends in workers if ends > 1000 * now}
    rows = list(zip(*[iter(found)] * 4, strict=True))
    if gone := [model for model, (state, *_of) in zip(models, rows, strict=True) if not state]:
        redis.srem(f"{PREFIX}models", *gone)
    used = [_use(now, leased, *row) for row in rows if row[0]]
    return tuple(sorted((one for one in used if not one.is_idle), key=lambda one: (one.provider, one.model)))


def _use(
    now: float, leased: set[str], state: dict[str, str], slots: dict[str, str], queue: dict[str, str], minute: Any
) -> ModelUse:
    most_requests, most_tokens = (int(float(state[name])) or None for name in ("requests", "tokens"))
    closed = int(state.get("closed", 0)) / 1000
    asked = (value.split() for value in queue.values())
    return ModelUse(
        provider=state["provider"],
        model=state["model"],
        used=sum(int(held) for worker, held in slots.items() if worker in leased),
        limit=int(state["limit"]),
        waiting=sum(int(waits) for _since, seen, waits in asked if 1000 * now - int(seen) < 1000 * STALE_SECONDS),
        requests=_of_minute(now, minute, "r") if most_requests else None,
        requests_limit=most_requests,
        tokens=_of_minute(now, minute, "t") if most_tokens else None,
        tokens_limit=most_tokens,
        closed_until=datetime.fromtimestamp(closed, UTC) if closed > now else None,
    )


def _of_minute(now: float, minute: dict[str, str], kind: str) -> int:
    found = 0
    for name, value in minute.items():
        of, _colon, second = name.partition(":")
        if of == kind and int(second) >= now - MINUTE - 1:
            found += int(value)
    return found
