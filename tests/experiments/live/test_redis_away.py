"""Without Redis a viewer is slower and misses nothing."""

import asyncio

import pytest

from experiments.runs.live import viewers
from tests.fixtures import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def redis_away(redis_server):
    """Redis is away from the beginning; calling it gives Redis back."""
    redis_server.stop()
    is_back = False

    async def give_back():
        nonlocal is_back
        await asyncio.to_thread(redis_server.start)
        is_back = True

    yield give_back
    if not is_back:
        redis_server.start()


async def test_a_viewer_gets_what_happened_and_happens_within_four_seconds(run, redis_away, watch_run, happens):
    await happens("turn_started", "turn_completed", turn=1)
    viewer = await watch_run(run)

    assert viewer.is_open
    assert await viewer.events(3) == [1, 2, 3]
    await happens("turn_started", turn=2)
    assert await viewer.events(1) == [4]
    assert viewers.LOOK_SECONDS < 4


async def test_when_redis_is_back_it_is_live(
    run, redis_away, watch_run, happens, quick_watch, subscriptions, monkeypatch
):
    viewer = await watch_run(run, "?after=1")
    await redis_away()
    await asyncio.to_thread(wait_until, lambda: subscriptions(run) == 1, "a new subscription")
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 3600)

    await happens("turn_started", turn=1)
    assert await viewer.events(1) == [2]
    await asyncio.sleep(0.3)  # the last quick look
    await happens("turn_completed", turn=1)
    assert await viewer.events(1) == [3]
