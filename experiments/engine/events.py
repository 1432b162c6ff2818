"""What the viewers of a run are told: durable events, numbered in the transaction that makes them true and
announced after its commit, and text as it streams.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from redis import asyncio as redis

from experiments.engine import digests
from experiments.lab.webhooks import outbox
from experiments.models import Event, Run
from experiments.models.work import ENVELOPE_VERSION
from experiments.workflows.base.events import EventData

logger = logging.getLogger(__name__)

REDIS_SECONDS = 2.0  # that a send may wait for a Redis that does not answer; viewers find the events in the table
Announce = Callable[[Event], object]


class News(NamedTuple):
    """A message of the channel layer for the viewers of one run."""

    run_id: UUID
    message: dict[str, Any]


def group_of(run_id: UUID | str) -> str:
    return f"run.{run_id}"


def joined(messages: Sequence[dict[str, Any]]) -> list[dict[str, object]]:
    """The messages of one run with neighbouring pieces of one call's text made into one: a viewer who is behind gets
    fewer and longer pieces.
    """
    result: list[dict[str, Any]] = []
    for message in messages:
        if result and _continues(result[-1], message):
            before, more = result[-1]["data"], message["data"]
            both = {name: before[name] + more[name] for name in ("text", "reasoning")}
            result[-1] = {**result[-1], "data": {**before, **both}}
        else:
            result.append(message)
    return result


def _continues(first: dict[str, Any], second: dict[str, Any]) -> bool:
    if not first["type"] == second["type"] == "run.delta":
        return False
    one, two = first["data"], second["data"]
    texts = one["offset"] + len(one["text"]), one["reasoning_offset"] + len(one["reasoning"])
    return bool(one["call"] == two["call"] and texts == (two["offset"], two["reasoning_offset"]))


def delta(run_id: UUID | str, data: Mapping[str, Any]) -> str:
    """A piece of streaming text as it travels; written once, however many viewers there are."""
    message = {"v": ENVELOPE_VERSION, "run": str(run_id), "type": "message_stream", "data": data}
    return json.dumps(message, ensure_ascii=False)


async def publish(news: News) -> None:
    """Raises TimeoutError where Redis does not take it in a moment, and what the channel layer raises."""
    layer: Any = get_channel_layer()
    async with asyncio.timeout(REDIS_SECONDS):
        await layer.group_send(group_of(news.run_id), news.message)


class Broadcaster:
    """Sends much news in one round trip, which the channel layer's own `group_send` cannot. Belongs to one loop."""

    def __init__(self) -> None:
        self._redis: Any = redis.Redis.from_url(settings.REDIS_URL)

    async def send(self, news: Sequence[News]) -> None:
        layer: Any = get_channel_layer()
        pipeline = self._redis.pipeline(transaction=False)
        for run_id, message in news:
            pipeline.publish(f"{_prefix()}__group__{group_of(run_id)}", layer.serialize(message))
        async with asyncio.timeout(REDIS_SECONDS):
            await pipeline.execute()

    async def close(self) -> None:
        await self._redis.aclose()


@cache
def _prefix() -> str:
    layers: Any = settings.CHANNEL_LAYERS
    return str(layers["default"]["CONFIG"]["prefix"])


class LeaseLost(Exception):
    """Somebody else drives the run now: whatever this driver holds in memory is out of date."""


class RunPaused(Exception):
    """The run was paused: nothing new is begun until it goes on."""


class Numbers(NamedTuple):
    """first: the number of the next event. after: the digest of the one before it. is_held: the run is paused."""

    first: int
    after: str
    is_held: bool


def reserve_numbers(run_id: UUID, count: int, fence: int | None = None, *, settled: int = 0) -> Numbers:
    """The numbers of `count` new events. The UPDATE locks the run's row until the commit, so seq order is commit order.
    With a fence it doubles as the check that the lease is still ours. settled: how many calls the transaction settles.
    Raises LeaseLost when the lease is not ours.
    """
    runs, events = (connection.ops.quote_name(model._meta.db_table) for model in (Run, Event))
    ours = "" if fence is None else " AND fence = %s"
    before = f"(SELECT digest FROM {events} WHERE run_id = {runs}.id AND seq = {runs}.last_seq - %s)" if count else "''"  # noqa: S608 — names of our own tables
    values = [
        *(count, settled, Run._meta.pk.get_db_prep_value(run_id, connection)),
        *(() if fence is None else (fence,)),
        *((count,) if count else ()),
    ]
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {runs} SET last_seq = last_seq + %s, settled_calls = settled_calls + %s"  # noqa: S608
            f" WHERE id = %s{ours} RETURNING last_seq, {before}, is_held",
            values,
        )
        row = cursor.fetchone()
    if row is None:
        raise LeaseLost(run_id)
    return Numbers(int(row[0]) - count + 1, row[1] or "", bool(row[2]))


def write(
    run_id: UUID, facts: Sequence[EventData], numbers: Numbers, announce: Announce, *, are_copies: bool = False
) -> None:
    """Store the events under these numbers. Call inside the transaction that reserved them. are_copies: they have
    happened before, in another run, and are no news to a webhook.
    """
    now, first = timezone.now(), numbers.first
    rows = (
        Event(run_id=run_id, seq=seq, type=fact.type, data=fact.data(), at=now) for seq, fact in enumerate(facts, first)
    )
    events = chained(rows, numbers.after)
    Event.objects.bulk_create(events)
    if not are_copies:
        outbox.of_run(run_id, list(enumerate(facts, first)))
    for event in events:
        transaction.on_commit(partial(announce, event))


def chained(events: Iterable[Event], after: str = "") -> list[Event]:
    """Unsaved events of one run in their order, each with its digest. after: that of the event before them."""
    found = []
    for event in events:
        event.digest = after = digests.of_event(after, event)
        found.append(event)
    return found


def emit(run_id: UUID, *facts: EventData, fence: int | None = None, announce: Announce | None = None) -> None:
    """Number, store and announce the facts. Call inside a transaction."""
    write(run_id, facts, reserve_numbers(run_id, len(facts), fence), announce or announce_now)


def announce_now(event: Event) -> None:
    """Tell the viewers from a web process or a command. Without Redis they find the event in the table."""
    try:
        async_to_sync(publish)(News(event.run_id, as_message(event)))
    except (Exception, asyncio.CancelledError) as error:  # the channel layer's errors have no common base, and a client
        # that leaves now must not keep what else is to be done after the commit from being done
        logger.warning("run=%s could not reach its viewers: %s", event.run_id, type(error).__name__)


def as_message(event: Event) -> dict[str, object]:
    return {"type": "run.event", "run": str(event.run_id), "envelope": event.envelope}
