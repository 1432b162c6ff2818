"""Whatever a client sends, its viewer goes on and nobody else is harmed."""

import json

import pytest

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
