"""Durable events: numbered in the transaction that makes them true, announced to the viewers after its commit."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.utils import timezone

from experiments.engine.broadcast import News, publish
from experiments.lab.webhooks import outbox
from experiments.models import Event, Run
from experiments.workflows.base.events import EventData

logger = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Somebody else drives the run now: whatever this driver holds in memory is out of date."""


Announce = Callable[[Event], None]


def reserve_numbers(run_id: UUID, count: int, fence: int | None = None) -> int:
    """The first of `count` new event numbers. The UPDATE locks the run's row until the commit, so seq order is commit
    order. With a fence it doubles as the check that the lease is still ours. Raises LeaseLost when it is not.
    """
    table, to_database = connection.ops.quote_name(Run._meta.db_table), Run._meta.pk.get_db_prep_value
    ours = "" if fence is None else " AND fence = %s"
    values = [count, to_database(run_id, connection), *([] if fence is None else [fence])]
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET last_seq = last_seq + %s WHERE id = %s{ours} RETURNING last_seq",  # noqa: S608 — names of our own tables
            values,
        )
        row = cursor.fetchone()
    if row is None:
        raise LeaseLost(run_id)
    return int(row[0]) - count + 1


def write(
    run_id: UUID, facts: Sequence[EventData], first: int, announce: Announce, *, are_copies: bool = False
) -> None:
    """Store the events under the numbers from `first` on. Call inside the transaction that reserved them. are_copies:
    they have happened before, in another run, and are no news to a webhook.
    """
    now = timezone.now()
    events = [
        Event(run_id=run_id, seq=seq, type=fact.type, data=fact.data(), at=now) for seq, fact in enumerate(facts, first)
    ]
    Event.objects.bulk_create(events)
    if not are_copies:
        outbox.of_run(run_id, list(enumerate(facts, first)))
    for event in events:
        transaction.on_commit(partial(announce, event))


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
