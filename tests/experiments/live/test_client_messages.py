"""Whatever a client sends, its viewer goes on and nobody else is harmed."""

import asyncio
import json

import pytest

from experiments.consumers import TOO_FAST, RunConsumer
from experiments.live import socket_limits
from experiments.live.viewers import viewers
from experiments.models import Event, Run

pytestmark = pytest.mark.django_db(transaction=True)

NONSENSE = {
    "empty": "",
    "no JSON": "hello",
    "cut short": '{"type": "sync"',
    "a list": "[1, 2]",
    "a number": "17",
    "null": "null",
    "no type": "{}",
    "another type": '{"type": "stop"}',
    "a handler's name": '{"type": "run.event", "envelope": {"seq": 99}}',
    "a typed list": '{"type": ["sync"]}',
    "a word": '{"type": "sync", "after": "x"}',
    "negative": '{"type": "sync", "after": -1}',
    "a fraction": '{"type": "sync", "after": 0.5}',
    "in the future": '{"type": "sync", "after": 99999}',
    "huge": '{"type": "sync", "after": 1' + "0" * 400 + "}",
    "many digits": '{"type": "sync", "after": 1' + "0" * 6000 + "}",
    "not a number": '{"type": "sync", "after": NaN}',
    "long": '{"type": "sync", "padding": "' + "x" * 60_000 + '"}',
    "deep": "[" * 60_000,
    "deep objects": '{"a":' * 10_000,
    "NUL": '{"type": "sync\\u0000"}',
    "half a pair": '{"type": "\\ud800"}',
}


BYTES = (b"", b"\x00\xff\xfe", b'{"type": "sync", "after": 0}', b"x" * 60_000)


async def test_messages_that_make_no_sense_change_nothing_for_anybody(watch_run, run, happens):
    loud, quiet = await watch_run(run, "?after=1"), await watch_run(run, "?after=1")
    sent = [{"text": text} for text in NONSENSE.values()] + [{"bytes": data} for data in BYTES]
    for message in sent:
        await loud.socket.send_input({"type": "websocket.receive", **message})
        assert await loud.hears_nothing(0.05), str(message)[:80]
    await happens("turn_started", turn=1)

    for viewer in (loud, quiet):
        assert await viewer.events(1) == [2]
        assert await viewer.hears_nothing(0.1)
    assert await Event.objects.filter(run=run).acount() == 2


async def test_a_viewer_cannot_move_the_run(watch_run, run):
    viewer = await watch_run(run, "?after=1")
    for kind in ("stop", "resume", "say", "websocket.close", "run.delta", "experiment_stopped"):
        await viewer.socket.send_to(json.dumps({"type": kind, "state": "stopped", "after": 0}))

    assert await viewer.hears_nothing()
    assert (await Run.objects.aget(pk=run.pk)).state == Run.State.QUEUED


# --- too much ---


SYNC = '{"type": "sync"}'


@pytest.mark.system
async def test_who_asks_without_end_is_sent_away_and_the_others_stay(watch_run, run, happens):
    loud, quiet = await watch_run(run, "?after=1"), await watch_run(run, "?after=1")
    for _ in range(socket_limits.MESSAGES + 1):
        await loud.socket.send_input({"type": "websocket.receive", "text": SYNC})

    assert await loud.closing_code() == TOO_FAST
    await happens("turn_started", turn=1)
    assert await quiet.events(1) == [2]


def test_after_a_while_there_is_room_again(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(socket_limits.time, "monotonic", lambda: now[0])
    pace = socket_limits.Pace()

    assert [pace.has_room() for _ in range(socket_limits.MESSAGES + 1)][-2:] == [True, False]
    now[0] += socket_limits.SECONDS
    assert pace.has_room()


@pytest.mark.system
async def test_nobody_holds_more_sockets_than_their_share(watch_run, run, settings):
    settings.SOCKETS_PER_PERSON = 2
    first, second = await watch_run(run), await watch_run(run)

    assert first.is_open
    assert second.is_open
    assert not (await watch_run(run)).is_open


async def test_a_place_that_was_left_can_be_taken(watch_run, run, settings, strangers_session):
    settings.SOCKETS_PER_PERSON = 1
    assert not (await watch_run(run, origin=b"http://localhost:8000", cookie=strangers_session)).is_open
    await (await watch_run(run)).leave()

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

    assert viewers().count == 0
    assert (await watch_run(run)).is_open
