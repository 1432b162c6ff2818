"""Connections that break, and clients that do not read: nothing is lost for them, and nobody else notices."""

import asyncio

import pytest

from experiments.models import Event, Run
from tests.experiments.live.conftest import drive_runs

pytestmark = pytest.mark.django_db(transaction=True)


async def test_whoever_comes_back_gets_what_was_missed_in_order_and_nothing_twice(watch_run, run, happens):
    first = await watch_run(run)
    heard = [(await first.next())["seq"]]
    await happens("turn_started", turn=1)
    heard += await first.events(1)
    await first.leave()

    for turn in range(2, 62):  # a minute of a busy run
        await happens("turn_started", turn=turn)
    second = await watch_run(run, f"?after={heard[-1]}")
    heard += await second.events(60)
    await happens("turn_started", turn=62)
    heard += await second.events(1)

    assert heard == list(range(1, 64))
    assert await second.hears_nothing(0.1)


async def test_a_client_that_never_reads_delays_neither_the_run_nor_the_others(watch_run, arena, start):
    run = await asyncio.to_thread(lambda: start(arena(max_turns=3)))
    await watch_run(run)  # opens, and is never read from
    await (await watch_run(run)).leave()
    reader = await watch_run(run)

    await asyncio.to_thread(drive_runs)

    count = await Event.objects.filter(run=run).acount()
    seen = []
    while len(seen) < count:
        message = await reader.next()
        seen += [message["seq"]] if "seq" in message else []
    assert seen == list(range(1, count + 1))
    assert (await Run.objects.aget(pk=run.pk)).state == Run.State.COMPLETED
