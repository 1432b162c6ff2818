"""What goes to the viewers by the channel layer: the group that a run's viewers join, and what is sent to it."""

import asyncio
import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from redis import asyncio as redis

from experiments.models.event import ENVELOPE_VERSION

REDIS_SECONDS = 2.0  # that a send may wait for a Redis that does not answer; viewers find the events in the table


class News(NamedTuple):
    """A message of the channel layer for the viewers of one run."""

    run_id: UUID
    message: dict[str, Any]


def group_of(run_id: UUID | str) -> str:
    return f"run.{run_id}"


def joined(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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


def delta(run_id: UUID | str, data: dict[str, Any]) -> str:
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
