"""Watching a run: every event once and in order, whatever happens to the connection."""

import asyncio
import os
import signal
import socket

import pytest

from arena_lab import AsyncArena, Delta, NotFound, NotSetUp, Said, Unreachable
from arena_lab.errors import TooMany
from arena_lab.following import ALARM_AFTER, Trouble, uses_socket
from tests.client.doors import Door

pytestmark = pytest.mark.system


SOCKET_AND_ASKING = pytest.mark.parametrize("live", [True, False], ids=["socket", "asking"])


def kill_the_web_server(lab):
    [web] = lab.platform.pids("web")
    os.kill(web, signal.SIGKILL)
    return web


@SOCKET_AND_ASKING
def test_a_run_is_followed_to_its_end_and_can_be_again_from_anywhere(arena, begin, live):
    run = begin()

    seqs = [event.seq for event in arena.watch(run, live=live)]
    assert seqs == list(range(1, arena.runs.get(run).last_seq + 1))
    assert [event.seq for event in arena.watch(run, live=live, after=seqs[-3])] == seqs[-2:]
    assert list(arena.watch(run, live=live, after=seqs[-1])) == []


def test_a_server_that_dies_meanwhile_makes_nobody_miss_anything(lab, arena, begin):
    run, seqs, troubles = begin("sim/slow", "sim/slow", max_turns=2), [], []

    for event in arena.watch(run, live=True, on_trouble=lambda said, seconds: troubles.append((said, seconds))):
        seqs.append(event.seq)
        if event.type == "turn_started" and event.turn == 1:
            kill_the_web_server(lab)

    assert troubles
    assert all(said and seconds > 0 for said, seconds in troubles)
    assert seqs == list(range(1, arena.runs.get(run).last_seq + 1))
    assert arena.runs.get(run).state == "completed"


async def test_nor_anybody_who_awaits_and_has_no_socket(lab, begin):
    run, seqs, killed = begin("sim/slow", "sim/slow", max_turns=2), [], []

    async with AsyncArena(lab.url, lab.token) as arena:
        async for event in arena.watch(run, live=False):
            seqs.append(event.seq)
            if event.type == "turn_started" and event.turn == 1:
                killed.append(await asyncio.to_thread(kill_the_web_server, lab))
        assert seqs == list(range(1, (await arena.runs.get(run)).last_seq + 1))

    assert killed
    assert not set(killed) & set(lab.platform.pids("web"))


async def test_who_asks_hears_of_a_platform_that_is_not_there_and_goes_on_when_it_is(lab, begin):
    """An address at which nobody listens until the second try; behind it is the platform."""
    run, troubles, doors = begin(), [], []

    def told(said, seconds):
        troubles.append((said, seconds))
        if not doors:
            doors.append(Door(door, lab.platform.port))

    with socket.create_server(("127.0.0.1", 0)) as free:
        door = free.getsockname()[1]
    try:
        async with AsyncArena(f"http://127.0.0.1:{door}", lab.token) as arena:
            seqs = [event.seq async for event in arena.watch(run, live=False, on_trouble=told)]
            assert seqs == list(range(1, (await arena.runs.get(run)).last_seq + 1))
    finally:
        for one in doors:
            one.close()

    assert troubles
    assert all(said and seconds > 0 for said, seconds in troubles)


def test_the_words_come_while_they_are_said_and_are_those_of_the_message(arena, begin):
    """Whoever comes late hears a message from its middle on."""
    heard, compared = {}, 0
    for item in arena.watch(begin("sim/slow", "sim/slow", max_turns=3), deltas=True):
        if isinstance(item, Delta):
            heard.setdefault(item.call, []).append(item)
        elif isinstance(item, Said):
            for delta in heard.get(item.message.call, []):
                assert item.message.raw_text[delta.offset :][: len(delta.text)] == delta.text
                compared += 1

    assert compared


def test_a_run_that_is_not_there_cannot_be_watched(arena):
    with pytest.raises(NotFound):
        list(arena.watch("01900000-0000-7000-8000-000000000000"))


def test_a_socket_that_is_wanted_needs_its_library(monkeypatch):
    def nothing(name):
        raise ImportError(name)

    monkeypatch.setattr("arena_lab.following.import_module", nothing)

    assert not uses_socket(None)
    assert not uses_socket(False)
    with pytest.raises(NotSetUp, match="live"):
        uses_socket(True)


def test_a_server_that_asks_for_time_is_given_it_and_one_that_stays_away_is_given_up():
    trouble = Trouble(told=None)
    assert trouble.wait(TooMany(429, "Too Many Requests", "", retry_after=7)) == 7

    trouble.waited = ALARM_AFTER
    with pytest.raises(Unreachable, match="No answer for"):
        trouble.wait(Unreachable("gone"))
