"""For what has to happen neither too soon nor too late, on a machine of whatever speed."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from experiments.gateway import GatewayError

PACES = (1, 4, 16)


async def at_some_pace(attempt: Callable[[int], Awaitable[None]]) -> None:
    """Awaits `attempt(pace)`, in which every time is `pace` times as long as usual. Where a busy machine is too late
    for one pace, the next one decides; what is wrong at each of them fails the test.
    """
    for pace in PACES[:-1]:
        with suppress(AssertionError, GatewayError):
            return await attempt(pace)
    return await attempt(PACES[-1])
