"""The whole lab together asks a model no more than its provider's limits allow, whatever becomes of Redis."""

import asyncio
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest

from experiments.engine import shared_limits
from experiments.engine.executor import CallExecutor, Endpoint, PendingCall
from experiments.engine.limit_scripts import LEASE_SECONDS, PREFIX, guaranteed
from experiments.engine.shared_limits import ModelLimits, SharedLimits
from experiments.gateway import ChatMessage, ChatRequest, RateLimited, Usage
from experiments.lab.observing import counting
from experiments.lab.observing.limits import in_use
from tests.fixtures import environment, wait_until
from tests.making import maker

SOON, LATE = 20.0, 0.4  # seconds: what has to happen, and what must not


@pytest.fixture
def redis(redis_server):
    """One that knows of no limits, and has opened."""
    connection = counting.connect()
    connection.delete(*connection.scan_iter(f"{PREFIX}*"), "nothing")
    connection.set(f"{PREFIX}epoch", int(1000 * time.time()) - 60_000)
    return connection


@pytest.fixture
async def workers(redis):
    """Two of the lab's processes, as far as the limits are concerned."""
    both = [SharedLimits(), SharedLimits()]
    running = [asyncio.create_task(one.run()) for one in both]
    await until(lambda: redis.zcard(f"{PREFIX}workers") == 2)
    yield both
    for task, one in zip(running, both, strict=True):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await one.close()
    assert not redis.zcard(f"{PREFIX}workers"), "who leaves says so"


async def until(condition):
    async with asyncio.timeout(SOON):
        while not condition():  # noqa: ASYNC110 — what Redis knows tells nobody
            await asyncio.sleep(0.01)


def limits(concurrency=100, **per_minute):
    return ModelLimits(7, "lab", "model", concurrency, **per_minute)


class Call:
    """One that wants a slot. It ends when it is told to."""

    def __init__(self, worker, limits, tokens=0):
        self._ends, self.slot = asyncio.Event(), None
        self._task = asyncio.create_task(self._make(worker, limits, tokens))

    async def _make(self, worker, limits, tokens):
        async with worker.slot(limits, tokens, 900.0) as self.slot:
            await self._ends.wait()

    @property
    def is_made(self):
        return self.slot is not None

    async def begins(self):
        await until(lambda: self.is_made)
        return self

    async def ends(self):
        self._ends.set()
        await self._task

    async def is_stopped(self):
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest.mark.system
async def test_an_error_while_it_tells_is_not_the_end_of_it(monkeypatch, tmp_path, settings):
    settings.DATA_DIR = tmp_path
    limits, tell = SharedLimits(), AsyncMock(side_effect=itertools.chain([ValueError("odd")], itertools.repeat(True)))
    monkeypatch.setattr(limits, "_tell_all", tell)
    running = asyncio.create_task(limits.run())
    await until(lambda: tell.await_count >= 2)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.system
async def test_who_waits_longest_gets_the_next_slot_in_whichever_process(workers, redis):
    one, two = workers
    first, second = await Call(one, limits(2)).begins(), await Call(one, limits(2)).begins()
    leaver, theirs = Call(one, limits(2)), Call(two, limits(2))
    await asyncio.sleep(LATE)
    mine = Call(one, limits(2))
    await asyncio.sleep(LATE)
    assert made([first, second, leaver, theirs, mine]) == 2
    await until(lambda: in_use(redis))
    [seen] = in_use(redis)
    assert (seen.provider, seen.model, seen.used, seen.limit, seen.waiting) == ("lab", "model", 2, 2, 3)

    await leaver.is_stopped()
    await first.ends()
    await theirs.begins()
    await asyncio.sleep(LATE)
    assert not mine.is_made
    await second.ends()
    await mine.begins()
    await theirs.ends()
    await mine.ends()
    await until(lambda: in_use(redis) == ())


@pytest.mark.system
async def test_a_rate_limit_that_one_process_hears_stops_the_calls_of_all(workers, redis):
    one, two = workers
    heard, other = await Call(one, limits()).begins(), await Call(two, limits()).begins()
    await until(lambda: in_use(redis))
    heard.slot.failed(RateLimited("busy", retry_after=1.5))
    began = time.monotonic()
    await heard.ends()
    await until(lambda: in_use(redis)[0].closed_until is not None)
    waiting = [Call(worker, limits()) for worker in (one, two)]
    for call in waiting:
        await call.begins()

    assert 1.5 <= time.monotonic() - began < SOON
    for call in (other, *waiting):
        await call.ends()


def age(redis, seconds):
    """As if what was asked had been asked so much earlier."""
    key = f"{PREFIX}minute:7"
    for field, value in redis.hgetall(key).items():
        kind, second = field.split(":")
        redis.hdel(key, field)
        redis.hset(key, f"{kind}:{int(second) - seconds}", value)


@pytest.mark.system
async def test_requests_a_minute_are_counted_over_all_processes(workers, redis):
    one, two = workers
    for worker in (one, two, one):
        await (await Call(worker, limits(requests=3)).begins()).ends()
    fourth = Call(two, limits(requests=3))
    await asyncio.sleep(LATE)
    age(redis, 50)
    await asyncio.sleep(LATE)
    assert not fourth.is_made
    assert (in_use(redis)[0].requests, in_use(redis)[0].requests_limit, in_use(redis)[0].tokens) == (3, 3, None)
    age(redis, 20)
    await (await fourth.begins()).ends()


@pytest.mark.system
async def test_tokens_a_minute_are_estimated_and_then_corrected_and_told_to_a_redis_that_was_emptied(workers, redis):
    one, two = workers
    first, second = await Call(one, limits(tokens=100), 60).begins(), Call(two, limits(tokens=100), 60)
    await asyncio.sleep(LATE)
    await until(lambda: in_use(redis))
    assert not second.is_made
    redis.delete(f"{PREFIX}minute:7", f"{PREFIX}epoch")
    await until(lambda: in_use(redis)[0].tokens == 60)
    assert not second.is_made
    first.slot.answered(Usage(20, 10))
    await first.ends()
    await second.begins()
    assert in_use(redis)[0].tokens == 90
    second.slot.failed(RateLimited("busy", retry_after=0.1))
    await second.ends()
    await until(lambda: in_use(redis)[0].tokens == 30)


@pytest.mark.system
async def test_a_process_that_alone_is_cut_off_from_redis_keeps_to_its_slots_and_the_others_leave_them_to_it(
    workers, monkeypatch
):
    one, two = workers
    mine = [await Call(one, limits(10)).begins() for _ in range(3)]
    await asyncio.sleep(LATE)
    with monkeypatch.context() as cut:
        for name in ("_ask", "_tell"):
            cut.setattr(one, name, AsyncMock(side_effect=ConnectionError))
        cut.setattr(one, "_answers", AsyncMock(return_value=False))
        await until(lambda: one._is_away)
        mine += [Call(one, limits(10)) for _ in range(2)]
        theirs = [Call(two, limits(10)) for _ in range(10)]
        await until(lambda: made(theirs) == 7)
        await mine[0].ends()
        await mine[3].begins()
        await asyncio.sleep(LATE)
        assert (made(mine), made(theirs)) == (4, 7)  # one of them has ended
    await until(lambda: not one._is_away)
    for call in (*mine[1:], *theirs):
        await (await call.begins()).ends()


def made(calls):
    return sum(call.is_made for call in calls)


@pytest.fixture
def executor(redis):
    started = CallExecutor(AsyncMock(), SharedLimits())  # nobody watches
    started.start()
    yield started
    started.close()


@pytest.mark.system
def test_the_calls_of_an_executor_take_slots_and_tell_of_tokens_and_rate_limits(executor, simulated, redis):
    kinds = []
    for model, times in (("sim/cooperative:first=0:words=20", 3), ("sim/cooperative:fail=429", 1)):
        request = ChatRequest(model=model, messages=(ChatMessage("user", "Hello"),))
        endpoint = Endpoint(simulated.base_url, "", True, model, 1, True, "lab", model_id=7, tokens_per_minute=10_000)
        for _ in range(times):
            executor.submit(PendingCall(uuid4(), uuid4(), endpoint, request, tokens=9_000))
        ended = [executor.results.get(timeout=60) for _ in range(times)]
        kinds += [result.error and result.error.kind for result in ended]

    assert kinds == [None, None, None, "rate_limited"]
    assert most_at_once(simulated.ledger()) == 1
    wait_until(lambda: in_use(redis)[0].closed_until, "the provider to be closed")
    wait_until(lambda: 60 <= in_use(redis)[0].tokens < 1_000, "the tokens that the answers had")


def most_at_once(rows):
    moments = sorted([(row["received"], 1) for row in rows] + [(row["ended"], -1) for row in rows])
    return max(itertools.accumulate(change for _moment, change in moments))


@maker
def process(simulated, /, calls, limit, model):
    command = [sys.executable, "-m", "tests.experiments.engine.limited", simulated.base_url, str(calls), str(limit)]
    return subprocess.Popen([*command, model], env=environment() | {"DJANGO_SETTINGS_MODULE": "arenasite.settings"})


@pytest.mark.system
def test_four_processes_never_make_more_calls_than_the_limit_though_redis_is_emptied_and_restarted(
    simulated, redis, redis_server, process
):
    started = [process(40, 10, "sim/cooperative:first=0:tps=60:words=20") for _ in range(4)]
    wait_until(lambda: len(simulated.ledger()) > 20, "the first calls")
    redis.flushall()
    wait_until(lambda: len(simulated.ledger()) > 70, "calls after that")
    redis_server.stop()
    time.sleep(1)
    redis_server.start()
    ended = [one.wait(120) for one in started]

    assert ended == [0, 0, 0, 0]
    assert len(simulated.ledger()) == 160
    assert 8 <= most_at_once(simulated.ledger()) <= 10


@pytest.mark.system
async def test_the_slots_of_a_process_that_was_killed_come_back_and_those_of_a_frozen_one_do_not(
    simulated, workers, process, redis
):
    for end, comes_back in ((signal.SIGSTOP, False), (signal.SIGKILL, True)):
        holder = process(2, 2, "sim/cooperative:first=0:tps=1:words=500")
        try:
            await until(lambda: redis.zcard(f"{PREFIX}workers") == 3 and in_use(redis) and in_use(redis)[0].used == 2)
            os.kill(holder.pid, end)
            call = Call(workers[0], limits(2))
            if comes_back:
                await (await call.begins()).ends()
            else:
                await asyncio.sleep(5)
                assert not call.is_made
                await call.is_stopped()
        finally:
            with contextlib.suppress(ProcessLookupError):
                holder.kill()
            holder.wait()
        await until(lambda: redis.zcard(f"{PREFIX}workers") == 2)


def test_without_redis_a_process_keeps_to_what_is_its_own():
    for kept, workers, away, seconds, room in (
        (0, None, 0, 900, 1),  # it never reached Redis
        *((0, 1, 0, 900, 10), (0, 4, 0, 900, 1), (7, 4, 0, 900, 7), (7, 4, LEASE_SECONDS - 900, 900, 1)),
        *((7, 4, LEASE_SECONDS - 900, 30, 7), (7, 4, LEASE_SECONDS, 30, 2)),
        *((0, 20, 0, 30, 0), (0, 20, LEASE_SECONDS, 30, 1)),
    ):
        use = shared_limits._Use(limits(10), kept=kept)
        assert shared_limits._room(use, workers, away, seconds) == room, (kept, workers, away, seconds)


def test_what_is_guaranteed_to_others_leaves_one_that_is_busy_alone_half_of_the_limit():
    for limit, workers in itertools.product((1, 3, 10, 100, 1000), range(1, 60)):
        assert workers * guaranteed(limit, workers) <= limit
        if workers > 1:
            assert limit - (workers - 1) * guaranteed(limit, workers) >= limit / 2
