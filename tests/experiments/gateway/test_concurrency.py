"""The number of calls that one model gets at a time."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from experiments.gateway import Overloaded, RateLimited, Unreachable
from experiments.gateway.retry import Limiter


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter_of(clock):
    return lambda start=20, cap=100: Limiter(start=start, cap=cap, clock=clock, sleep=clock.sleep)


async def full(limiter: Limiter) -> AsyncExitStack:
    stack = AsyncExitStack()
    for _ in range(limiter.limit):
        await stack.enter_async_context(limiter.slot())
    return stack


async def waiting(limiter: Limiter, order: list[int], number: int) -> None:
    async with limiter.slot():
        assert limiter.active <= limiter.limit
        order.append(number)


async def test_no_more_than_the_limit_run_at_once_and_those_who_wait_are_served_in_their_order(limiter_of):
    limiter, order = limiter_of(start=3), []
    async with await full(limiter):
        tasks = [asyncio.create_task(waiting(limiter, order, number)) for number in range(10)]
        await asyncio.sleep(0)
        assert (limiter.active, order) == (3, [])
    await asyncio.gather(*tasks)
    assert (limiter.active, order) == (0, list(range(10)))
    with pytest.raises(ValueError, match="boom"):
        async with limiter.slot():
            raise ValueError("boom")
    assert limiter.active == 0, "a call that fails gives its slot back"


async def test_success_at_the_limit_and_none_below_it_lets_it_grow_up_to_the_cap(limiter_of):
    limiter = limiter_of(start=4, cap=6)
    for _ in range(50):
        async with limiter.slot():
            limiter.report(None)
    assert limiter.limit == 4
    for grown in (5, 6, 6):
        async with await full(limiter):
            for _ in range(limiter.limit + 1):
                limiter.report(None)
        assert limiter.limit == grown


async def test_one_episode_of_429_shrinks_once_and_never_below_one_and_nothing_starts_meanwhile(limiter_of, clock):
    limiter = limiter_of()
    for _ in range(5):
        limiter.report(RateLimited("x"))
    assert limiter.limit == 16
    clock.now += 15
    limiter.report(RateLimited("x"))
    assert limiter.limit == 12
    for _ in range(20):
        clock.now += 15
        limiter.report(RateLimited("x"))
    assert limiter.limit == 1

    for retry_after, pause in ((None, 15), (40, 40)):
        clock.slept.clear()
        limiter = limiter_of()
        limiter.report(RateLimited("x", retry_after=retry_after))
        assert limiter.is_closed
        async with limiter.slot():
            assert clock.slept == [pause]
        assert not limiter.is_closed


async def test_a_5xx_pauses_growth_and_nothing_else(limiter_of, clock):
    limiter = limiter_of(start=2)
    async with await full(limiter):
        limiter.report(Overloaded("x"))
        for _ in range(10):
            limiter.report(None)
        assert limiter.limit == 2
        clock.now += 15
        for _ in range(3):
            limiter.report(None)
    assert limiter.limit == 3
    assert clock.slept == []


async def test_who_stops_waiting_also_at_the_moment_of_the_turn_takes_no_slot_along(limiter_of):
    for has_a_turn in (False, True):
        limiter, order = limiter_of(start=1), []
        stack = await full(limiter)
        leaver, stayer = (asyncio.create_task(waiting(limiter, order, number)) for number in (1, 2))
        await asyncio.sleep(0)
        if has_a_turn:
            await stack.aclose()
        leaver.cancel()
        await stack.aclose()
        await asyncio.wait_for(stayer, 30)
        assert (order, limiter.active, leaver.cancelled()) == ([2], 0, True), has_a_turn


async def test_from_the_fifth_unreachable_in_a_row_each_try_waits_twice_as_long_up_to_a_minute(limiter_of, clock):
    limiter = limiter_of()
    for _ in range(4):
        limiter.report(Unreachable("x"))
    async with limiter.slot():
        assert clock.slept == []
    for _ in range(6):
        limiter.report(Unreachable("x"))
        async with limiter.slot():
            pass
    assert clock.slept == [5, 10, 20, 40, 60, 60]

    clock.slept.clear()
    limiter = limiter_of()
    for _ in range(50):  # all that were under way tell of one outage
        limiter.report(Unreachable("x"))
    async with limiter.slot():
        assert clock.slept == [5]

    clock.slept.clear()
    for answer in (None, Overloaded("x"), RateLimited("x", retry_after=0.1)):
        limiter = limiter_of()
        for _ in range(4):
            limiter.report(Unreachable("x"))
        limiter.report(answer)
        clock.now += 1
        limiter.report(Unreachable("x"))

        async with limiter.slot():
            assert clock.slept == [], "any answer ends the outage"
