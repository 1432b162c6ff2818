"""Durable events: numbered in the transaction that makes them true, announced to the viewers after its commit."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from experiments.engine.live import News, publish
from experiments.models import Event, Run

logger = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Somebody else drives the run now: whatever this driver holds in memory is out of date."""


class Fact(NamedTuple):
    """An event that is about to become one."""

    type: str
    data: dict[str, Any]


Announce = Callable[[Event], None]


def reserve_numbers(run_id: UUID, count: int, fence: int | None = None) -> int:
    """The first of `count` new event numbers. The UPDATE locks the run's row until the commit, so seq order is commit
    order. With a fence it doubles as the check that the lease is still ours. Raises LeaseLost when it is not.
    """
    runs = Run.objects.filter(pk=run_id)
    if fence is not None:
        runs = runs.filter(fence=fence)
    if not runs.update(last_seq=F("last_seq") + count):
        raise LeaseLost(run_id)
    last = Run.objects.values_list("last_seq", flat=True).get(pk=run_id)
    return last - count + 1


def write(run_id: UUID, facts: Sequence[Fact], first: int, announce: Announce) -> None:
    """Store the facts under the numbers from `first` on. Call inside the transaction that reserved them."""
    now = timezone.now()
    events = [
        Event(run_id=run_id, seq=first + place, type=fact.type, data=fact.data, at=now)
        for place, fact in enumerate(facts)
    ]
    Event.objects.bulk_create(events)
    for event in events:
        transaction.on_commit(partial(announce, event))


def emit(run_id: UUID, *facts: Fact, fence: int | None = None, announce: Announce | None = None) -> None:
    """Number, store and announce the facts. Call inside a transaction."""
    write(run_id, facts, reserve_numbers(run_id, len(facts), fence), announce or announce_now)


def announce_now(event: Event) -> None:
    """Tell the viewers from a web process or a command. Without Redis they find the event in the table."""
    try:
        async_to_sync(publish)(News(event.run_id, as_message(event)))
    except Exception as error:  # redis, its client and the channel layer raise errors without a common base
        logger.warning("run=%s could not reach its viewers: %s", event.run_id, type(error).__name__)


def as_message(event: Event) -> dict[str, Any]:
    return {"type": "run.event", "run": str(event.run_id), "envelope": event.envelope}
