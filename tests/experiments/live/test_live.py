"""What a viewer gets of what has happened and happens: all, in order and once, whatever wire, Redis or client do."""

import asyncio
import json

import pytest
from asgiref.sync import sync_to_async
from django.db import transaction

from experiments.engine.events import announce_now, emit
from experiments.models import Call, Event, Message, Participant, Run, Step
from experiments.runs.live import backlog, consumers, viewers
from experiments.runs.live.backlog import ROWS
from experiments.runs.live.consumers import TOO_FAST, RunConsumer
from experiments.runs.live.viewers import EncodedText
from experiments.workflows.base.records import TurnStarted
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


async def test_without_redis_a_viewer_gets_within_four_seconds_what_happened_and_happens_and_is_live_when_it_is_back(
    run, redis_server, watch_run, happens, subscriptions, monkeypatch
):
    await asyncio.to_thread(redis_server.stop)
    try:
        await happens("turn_started", turn=1)
        viewer = await watch_run(run)
        assert await viewer.events(2) == [1, 2]
        await happens("turn_completed", turn=1)
        assert await viewer.events(1) == [3]
        assert viewers.LOOK_SECONDS < 4
        monkeypatch.setattr(viewers, "LOOK_SECONDS", 0.1)
    finally:
        await asyncio.to_thread(redis_server.start)
    await asyncio.to_thread(wait_until, lambda: subscriptions(run) == 1, "a new subscription")
    monkeypatch.setattr(viewers, "LOOK_SECONDS", 3600)

    await happens("turn_started", turn=2)
    assert await viewer.events(1) == [4]
    await asyncio.sleep(0.3)  # the last quick look
    await happens("turn_completed", turn=2)
    assert await viewer.events(1) == [5]


@sync_to_async
def store_events(run, count):
    """All that the run has then, the one at its beginning included."""
    with transaction.atomic():
        emit(run.pk, *(TurnStarted(turn=n) for n in range(count)), announce=lambda event: None)
    return [event.envelope for event in Event.objects.filter(run=run)]


@pytest.mark.databases
async def test_it_gets_only_what_it_has_not_seen_and_what_happens_then(watch_run, run, happens):
    stored = await store_events(run, 2 * ROWS + 50)  # more than are read at once
    last = len(stored)
    viewers = {after: await watch_run(run, f"?after={after}") for after in (0, last - 3, last - 1, last)}
    for after, viewer in viewers.items():
        assert await viewer.take(last - after) == stored[after:]
        assert await viewer.hears_nothing(0.1)

    await happens("turn_started", turn=10)
    assert [await viewer.events(1) for viewer in viewers.values()] == [[last + 1]] * 4


async def test_what_happens_while_it_is_opening_comes_in_order_and_once(watch_run, run, happens):
    opening = [asyncio.create_task(watch_run(run)) for _ in range(5)]
    for turn in range(20):
        await happens("turn_started", turn=turn)
    viewers = [await task for task in opening]

    for viewer in viewers:
        assert await viewer.events(21) == list(range(1, 22))
        assert await viewer.hears_nothing(0.1)


async def test_it_gets_the_partial_text_of_the_calls_under_way_and_of_no_others(watch_run, run):
    others = [{"state": Call.State.COMPLETED}, {"state": Call.State.LOST}, {"purpose": "judge"}]
    for number, fields in enumerate(others):
        await sync_to_async(open_call)(run, f"turn/1/{number}", text="nothing to be shown", **fields)
    call = await sync_to_async(open_call)(run, "turn/1/A", text="I offer three", reasoning="They need four")
    viewer = await watch_run(run)

    _created, partial = await viewer.take(2)
    data = {"call": str(call.pk), "seat": "A", "turn": 1, "purpose": "reply", "offset": 0, "text": "I offer three"}
    data |= {"reasoning_offset": 0, "reasoning": "They need four"}
    assert partial == {"v": 1, "run": str(run.pk), "type": "message_stream", "data": data}
    assert await viewer.hears_nothing()


def open_call(run, key, *, purpose="reply", **fields):
    participant = Participant.objects.filter(experiment=run.experiment_id, seat="A").get()
    step = Step.objects.create(run=run, key=key, kind="ask", purpose=purpose, seat="A", turn=1)
    return Call.objects.create(run=run, step=step, attempt=1, model=participant.model, request={}, **fields)


async def test_those_who_ask_at_the_same_time_share_one_visit_and_later_ones_hear_what_has_happened_since(
    run, happens, monkeypatch
):
    visits, read, here = [], backlog._read, backlog.Backfill()

    async def counted(run_id, seq):
        visits.append(seq)
        return await read(run_id, seq)

    monkeypatch.setattr(backlog, "_read", counted)
    *answers, (none, _texts) = await asyncio.gather(*(here.rows(run.pk, after) for after in [0] * 20 + [1]))

    assert sorted(visits) == [0, 1]
    assert [event["seq"] for event in answers[-1][0]] == [1]
    assert all(answer == answers[0] for answer in answers)
    assert none == [], "who asks for something else gets something else"
    await happens("turn_started", silently=True)
    events, _texts = await here.rows(run.pk, 0)
    assert ([event["seq"] for event in events], len(visits)) == ([1, 2], 3)

    leaves, stays = (asyncio.ensure_future(here.rows(run.pk, 0)) for _viewer in range(2))
    await asyncio.sleep(0)
    leaves.cancel()
    assert len((await stays)[0]) == 2, "who leaves takes the answer from nobody"


def test_a_text_is_put_into_a_frame_once():
    made = []
    said = EncodedText("hello")

    frames = [said.framed(lambda text: made.append(text) or text.encode()) for _viewer in range(20)]

    assert made == ["hello"]
    assert frames == [b"hello"] * 20


NONSENSE = (
    *("", "hello", '{"type": "sync"', "[1, 2]", "null", "{}", "[" * 60_000, '{"a":' * 10_000),
    *('{"type": "run.event", "envelope": {"seq": 99}}', '{"type": ["sync"]}', '{"type": "\\ud800"}'),
    *(f'{{"type": "sync", "after": {after}}}' for after in ('"x"', -1, 0.5, 99999, "1" + "0" * 6000, "NaN")),
    *(f'{{"type": "{kind}", "state": "stopped"}}' for kind in ("stop", "say", "websocket.close", "experiment_stopped")),
    '{"type": "sync", "padding": "' + "x" * 60_000 + '"}',
)
BYTES = (b"", b"\x00\xff\xfe", b'{"type": "sync", "after": 0}', b"x" * 60_000)


async def test_messages_that_make_no_sense_change_nothing_for_anybody(watch_run, run, happens):
    loud, quiet = await watch_run(run, "?after=1"), await watch_run(run, "?after=1")
    sent = [{"text": text} for text in NONSENSE] + [{"bytes": data} for data in BYTES]
    for message in sent:
        await loud.socket.send_input({"type": "websocket.receive", **message})
        assert await loud.hears_nothing(0.05), str(message)[:80]
    await happens("turn_started", turn=1)

    for viewer in (loud, quiet):
        assert await viewer.events(1) == [2]
        assert await viewer.hears_nothing(0.1)
    assert await Event.objects.filter(run=run).acount() == 2
    assert (await Run.objects.aget(pk=run.pk)).state == Run.State.QUEUED


@pytest.mark.system
async def test_who_asks_without_end_is_sent_away_and_the_others_stay(watch_run, run, happens):
    loud, quiet = await watch_run(run, "?after=1"), await watch_run(run, "?after=1")
    for _ in range(consumers.MESSAGES + 1):
        await loud.socket.send_input({"type": "websocket.receive", "text": '{"type": "sync"}'})

    assert await loud.closing_code() == TOO_FAST
    await happens("turn_started", turn=1)
    assert await quiet.events(1) == [2]


def test_after_a_while_there_is_room_again(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(consumers.time, "monotonic", lambda: now[0])
    pace = consumers.MessageRate()

    assert [pace.has_room() for _ in range(consumers.MESSAGES + 1)][-2:] == [True, False]
    now[0] += consumers.SECONDS
    assert pace.has_room()


async def test_nobody_holds_more_sockets_than_their_share_and_a_place_left_can_be_taken(watch_run, run, settings):
    settings.SOCKETS_PER_PERSON = 2
    first, second, third = [await watch_run(run) for _ in range(3)]
    assert (first.is_open, second.is_open, third.is_open) == (True, True, False)

    await first.leave()
    assert (await watch_run(run)).is_open


async def test_a_socket_that_is_broken_off_gives_its_place_back(watch_run, run, settings, monkeypatch):
    """As the web server does with one whose client is gone, when the database lets it wait for long."""
    settings.SOCKETS_PER_PERSON = 1
    asked = asyncio.Event()

    async def waits(consumer):
        asked.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(RunConsumer, "_send_what_there_is", waits)
        stuck = await watch_run(run)
        await asked.wait()
        assert not (await watch_run(run)).is_open
        stuck.socket.future.cancel()
        await asyncio.wait([stuck.socket.future])

    assert viewers.viewers().count == 0
    assert (await watch_run(run)).is_open
