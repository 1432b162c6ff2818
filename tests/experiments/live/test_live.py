"""What a viewer gets as it happens, how it gets over what the wire drops, and that without Redis it misses nothing."""

import asyncio
import json

import pytest

from experiments.engine.events import announce_now
from experiments.models import Event, Message, Run
from experiments.runs.live import viewers
from tests.experiments.live.conftest import drive_runs
from tests.fixtures import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


async def test_every_viewer_gets_every_event_by_one_subscription(watch_run, run, happens, alices_token, subscriptions):
    viewers = [await watch_run(run, "?after=1") for _ in range(3)]
    viewers.append(await watch_run(run, "?after=1", authorization=alices_token))
    envelopes = await happens("turn_started", "judge_evaluation_started", "turn_completed", turn=1)

    assert [await viewer.take(3) for viewer in viewers] == [envelopes] * 4
    assert [(set(one), one["seq"]) for one in envelopes] == [
        ({"v", "run", "seq", "type", "data", "at"}, seq) for seq in (2, 3, 4)
    ]
    assert subscriptions(run) == 1


async def test_viewers_of_several_runs_that_open_at_once_are_all_live(watch_run, run, arena, start, happens, no_watch):
    others = await asyncio.to_thread(lambda: [start(arena()) for _ in range(5)])
    runs = [run, *others]
    viewers = await asyncio.gather(*(watch_run(each, "?after=1") for each in runs))
    for each in runs:
        await happens("turn_started", run=each, turn=1)

    for each, viewer in zip(runs, viewers, strict=True):
        message = await viewer.next()
        assert (message["run"], message["seq"]) == (str(each.pk), 2)
        assert await viewer.hears_nothing(0.1), "of another run"


@pytest.mark.system
async def test_the_text_of_a_run_streams_in_and_ends_as_the_message(watch_run, arena, start):
    slow = {"a": "sim/cooperative:first=0:tps=40:words=60", "b": "sim/neutral:first=0"}
    run = await asyncio.to_thread(lambda: start(arena(**slow, filter=False, judge=False, max_turns=1)))
    viewer = await watch_run(run, "?after=1")

    driving = asyncio.create_task(asyncio.to_thread(drive_runs))
    heard = [await viewer.next()]
    while heard[-1]["type"] != "experiment_stopped":
        heard.append(await viewer.next())
    await driving

    seqs = [message["seq"] for message in heard if "seq" in message]
    assert seqs == list(range(2, len(seqs) + 2))
    message = await Message.objects.aget(run=run, seat="A")
    pieces = [m["data"] for m in heard if m["type"] == "message_stream" and m["data"]["call"] == str(message.call_id)]
    assert len(pieces) > 3
    text = ""
    for piece in pieces:
        text = text[: piece["offset"]] + piece["text"]
    assert text == message.raw_text
    kinds = [m["type"] for m in heard if m["type"] != "message_stream" or m["data"]["seat"] == "A"]
    assert kinds.index("message_completed") > kinds.index("message_stream")


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


async def test_with_html_each_event_carries_its_fragment_in_the_language_asked_for(watch_run, run, happens):
    plain = await watch_run(run)
    assert "html" not in await plain.next()
    english = await watch_run(run, "?html=1&language=en")
    chinese = await watch_run(run, "?after=1&html=1&language=zh-hans")
    assert (await english.next())["html"] is None, "there is nothing to show"
    await happens("turn_started", turn=7)
    assert 'id="turn-7"' in (await english.next())["html"]
    await chinese.next()
    await happens("experiment_stopped", state="stopped", reason="manual_stop", message="")

    assert all("html" not in message for message in await plain.take(2))
    fragments = [(await viewer.next())["html"] for viewer in (english, chinese)]
    assert "Stopped" in fragments[0]
    assert "Stopped" not in fragments[1]
    for language in ("fr", "", "xx-yy", "%00", "../../etc", "en;q=0.5", "x" * 500):
        viewer = await watch_run(run, f"?after=2&html=1&language={language}")
        assert "Stopped" in (await viewer.next())["html"], language


async def test_events_that_are_announced_in_any_order_or_dropped_and_asked_for_come_in_order_and_once(
    watch_run, run, happens, no_watch
):
    viewer = await watch_run(run, "?after=1")
    await happens("turn_started", "judge_evaluation_started", "turn_completed", turn=1, silently=True)
    for seq in (4, 3, 2, 2, 1):
        await asyncio.to_thread(announce_now, await Event.objects.aget(run=run, seq=seq))
    assert await viewer.events(3) == [2, 3, 4]
    assert await viewer.hears_nothing()

    await happens("turn_started", "turn_completed", turn=2, silently=True)
    await viewer.socket.send_to(json.dumps({"type": "sync"}))
    assert await viewer.events(2) == [5, 6], "what the wire has dropped"
    for after in (0, 1, 5, 6):
        await viewer.socket.send_to(json.dumps({"type": "sync", "after": after}))
        assert await viewer.events(6 - after) == list(range(after + 1, 7))
        assert await viewer.hears_nothing()


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


async def test_without_redis_a_viewer_gets_within_four_seconds_what_happened_and_happens_and_is_live_when_it_is_back(
    run, redis_away, watch_run, happens, subscriptions, monkeypatch
):
    await happens("turn_started", turn=1)
    viewer = await watch_run(run)
    assert await viewer.events(2) == [1, 2]
    await happens("turn_completed", turn=1)
    assert await viewer.events(1) == [3]
    assert viewers.LOOK_SECONDS < 4
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 0.1)
    await redis_away()
    await asyncio.to_thread(wait_until, lambda: subscriptions(run) == 1, "a new subscription")
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 3600)

    await happens("turn_started", turn=2)
    assert await viewer.events(1) == [4]
    await asyncio.sleep(0.3)  # the last quick look
    await happens("turn_completed", turn=2)
    assert await viewer.events(1) == [5]
