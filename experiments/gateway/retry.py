"""When a provider is asked: how many calls it gets at a time, and whether a failed one is asked again."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from experiments.gateway.errors import (
    BadAnswer,
    EmptyAnswer,
    GatewayError,
    Interrupted,
    OutcomeUnknown,
    OutOfCredit,
    Overloaded,
    RateLimited,
    TryLater,
    Unreachable,
)

logger = logging.getLogger(__name__)

START, CAP = 20, 100
SHRINK = 0.8
COOLDOWN_SECONDS = 15.0
OUTAGE = 5  # unreachable so many times in a row
OUTAGE_SECONDS, LONGEST_OUTAGE_SECONDS = 5.0, 60.0

MAX_ATTEMPTS = 4
LONGEST_WAIT = 120.0
_BASE_SECONDS = 1.0
_RATE_LIMIT_BASE_SECONDS = 4.0


class Limiter:
    """Additive growth while the limit is in use, x0.8 per episode of 429.

    All 429 answers that arrive before a cooldown ends belong to one episode; the cooldown is Retry-After, else 15 s,
    and no slot is given out during it. A 5xx only pauses growth for as long. Those who wait are served in their order.
    A provider that was unreachable five times in a row gets no calls for 5 s, then for twice as long each time, up to a
    minute: calls that wait use up no attempt, and are made when the provider is back.
    """

    def __init__(
        self,
        *,
        start: int = START,
        cap: int = CAP,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limit = float(start)
        self._cap = cap
        self._clock = clock or time.monotonic
        self._sleep = sleep
        self._active = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._closed_until = 0.0
        self._growth_from = 0.0
        self._unreached = 0

    @property
    def limit(self) -> int:
        """Calls allowed at a time, 1 to the cap."""
        return int(self._limit)

    @property
    def active(self) -> int:
        """Slots given out, including those that wait for a cooldown to end."""
        return self._active

    @property
    def is_closed(self) -> bool:
        """Whether no slot is given out, as a cooldown has not ended."""
        return self._clock() < self._closed_until

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Waits for a turn and for the end of a cooldown; the body is the call."""
        await self._acquire()
        try:
            while (pause := self._closed_until - self._clock()) > 0:
                await self._sleep(pause)
            yield
        finally:
            self._active -= 1
            self._serve_queue()

    def report(self, error: GatewayError | None) -> None:
        """How a call ended; None is success. Call it inside the slot, once per call."""
        now = self._clock()
        self._note_outage(error, now)
        if isinstance(error, RateLimited):
            self._shrink(now, error.retry_after or COOLDOWN_SECONDS)
        elif isinstance(error, Overloaded):
            self._growth_from = max(self._growth_from, now + COOLDOWN_SECONDS)
        elif error is None and now >= self._growth_from and self._active >= self.limit:
            self._limit = min(self._cap, self._limit + 1 / self._limit)
            self._serve_queue()

    def _note_outage(self, error: GatewayError | None, now: float) -> None:
        """All who were under way when the provider went away tell of the same outage."""
        if not isinstance(error, Unreachable):
            self._unreached = 0
        elif now >= self._closed_until:
            self._unreached += 1
            if (beyond := self._unreached - OUTAGE) >= 0:
                pause = min(LONGEST_OUTAGE_SECONDS, OUTAGE_SECONDS * 2 ** min(beyond, 10))
                self._closed_until = now + pause
                logger.warning("a provider could not be reached %d times: next try in %.0f s", self._unreached, pause)

    def _shrink(self, now: float, cooldown: float) -> None:
        if now >= self._closed_until:
            self._limit = max(1.0, self._limit * SHRINK)
        self._closed_until = max(self._closed_until, now + cooldown)
        self._growth_from = max(self._growth_from, self._closed_until)

    async def _acquire(self) -> None:
        if self._active < self.limit and not self._queue:
            self._active += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._active -= 1  # the turn came at the very moment of the cancellation: pass it on
                self._serve_queue()
            raise

    def _serve_queue(self) -> None:
        while self._queue and self._active < self.limit:
            turn = self._queue.popleft()
            if not turn.done():
                self._active += 1
                turn.set_result(None)


# --- after a failed attempt: no clock and no randomness, the caller brings the jitter ---


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again, as a new attempt, after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


def decide(error: GatewayError, attempt: int, *, jitter: float) -> Wait | GiveUp:
    """What to do after attempt number `attempt` (1 is the first) failed with `error`.

    jitter: 0 to 1, spreads callers that failed together: half to one and a half of the doubling pause, or up to a
    second on top of the pause that the provider named, which is never undercut.
    """
    if attempt >= _attempts_allowed(error):
        return GiveUp(f"attempt {attempt} failed: {error}")
    if isinstance(error, EmptyAnswer) and error.partial is not None and error.partial.finish_reason == "length":
        return GiveUp("the token limit was reached before any text, which would happen again: raise max_tokens")
    if error.retry_after is not None:
        return Wait(error.retry_after + jitter)
    base = _RATE_LIMIT_BASE_SECONDS if isinstance(error, RateLimited) else _BASE_SECONDS
    return Wait(min(LONGEST_WAIT, base * 2 ** (attempt - 1) * (0.5 + jitter)))


def may_be_billed(error: GatewayError) -> bool:
    """Whether the provider may have done the work: a repeat may be billed on top."""
    return isinstance(error, OutcomeUnknown | Interrupted | BadAnswer)


def _attempts_allowed(error: GatewayError) -> int:
    """Of a call that may have been billed, one repeat; how much money may be at risk is for the caller to say."""
    if may_be_billed(error):
        return 2
    if isinstance(error, TryLater):
        return MAX_ATTEMPTS
    heals = isinstance(error, OutOfCredit) and error.retry_after is not None
    return MAX_ATTEMPTS if heals else 1
