"""Whatever a client sends, its viewer goes on and nobody else is harmed."""

import asyncio

import pytest

from experiments.models import Event, Run
from experiments.runs.live import consumers
from experiments.runs.live.consumers import TOO_FAST, RunConsumer
from experiments.runs.live.viewers import viewers

pytestmark = pytest.mark.django_db(transaction=True)


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

    assert viewers().count == 0
    assert (await watch_run(run)).is_open
