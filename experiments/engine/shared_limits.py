"""How many calls, requests a minute and tokens a minute the whole lab makes of one model, whichever workers make them.

A call asks Redis for a slot (`limit_scripts`), and beneath it the limiter of its own process, which follows what the
provider takes (`gateway/retry.py`). What is guaranteed, and what not: docs/deploying.md.
"""

import asyncio
import json
import logging
import math
import random
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict
from uuid import uuid4

from django.conf import settings
from redis import asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from experiments.engine.life_locks import LifeLock
from experiments.engine.limit_scripts import (
    ASK,
    BEGIN,
    LEASE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    MINUTE,
    RENEW_SECONDS,
    TELL,
    guaranteed,
)
from experiments.gateway.errors import GatewayError, NeedsPerson, RateLimited, Unreachable
from experiments.gateway.retry import COOLDOWN_SECONDS
from experiments.gateway.types import Usage
from experiments.lab.observing import counting

logger = logging.getLogger(__name__)

REDIS_SECONDS = 1.0  # that Redis may take for an answer
GATHER_SECONDS = 0.01  # for which what has ended is gathered, to be told at once
POLL_SECONDS = (0.02, 0.1)  # between two questions of a call that waits, where nothing says how long
REDIS_ERRORS = (RedisError, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What the lab may ask of one model. concurrency: calls at the same time. requests, tokens: in any 60 s; None for
    no limit.
    """

    model_id: int
    provider: str
    model: str
    concurrency: int
    requests: int | None = None
    tokens: int | None = None


@dataclass(slots=True)
class Booking:
    """One request of the last minute. tokens: estimated before the call, counted after it. told: those that Redis of
    that epoch has.
    """

    second: int
    tokens: int
    told: int = 0
    epoch: int | None = None


class ToldModel(TypedDict):
    """closed: ms from now. booked: of each second, requests and tokens to add."""

    id: str
    held: int
    waits: int
    closed: int
    provider: str
    model: str
    limit: int
    requests: int
    tokens: int
    booked: list[tuple[int, int, int]]


@dataclass(eq=False, slots=True)
class _Use:
    """What this process does with one model. held: calls under way. kept: of those, when Redis was lost. closed_until:
    by the monotonic clock. is_news: something has changed that Redis was not told.
    """

    limits: ModelLimits
    held: int = 0
    waits: int = 0
    kept: int = 0
    closed_until: float = 0.0
    is_news: bool = False
    bookings: deque[Booking] = field(default_factory=deque)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # who came first asks first
    freed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def per_minute(self) -> bool:
        return self.limits.requests is not None or self.limits.tokens is not None


class Slot:
    """Permission to make one call. Say how it ended before it is given back."""

    def __init__(self, limits: "SharedLimits | None" = None, use: _Use | None = None, booking: Booking | None = None):
        self._limits, self._use, self._booking = limits, use, booking

    def answered(self, usage: Usage | None) -> None:
        if usage and self._booking:
            self._booking.tokens = usage.total_input + usage.output_tokens

    def failed(self, error: GatewayError) -> None:
        """A call that was turned away took no tokens. A rate limit stops the calls of all workers for a while."""
        if self._booking and isinstance(error, RateLimited | Unreachable | NeedsPerson):
            self._booking.tokens = 0
        if self._limits and self._use and isinstance(error, RateLimited):
            self._limits.close_model(self._use, error.retry_after or COOLDOWN_SECONDS)


class SharedLimits:
    """Those of one process. Belongs to one asyncio loop, in which `run` has to go on as long as calls are made."""

    def __init__(self) -> None:
        self.process = uuid4().hex
        retry = Retry(NoBackoff(), 1)  # a connection from before Redis was restarted is worth one more try
        self._redis: Any = redis.Redis.from_url(settings.REDIS_URL, retry=retry)
        self._ask, self._tell = self._redis.register_script(ASK), self._redis.register_script(TELL)
        self._life = LifeLock(Path(settings.DATA_DIR) / "limits", self.process)
        self._uses: dict[int, _Use] = {}
        self._talking = asyncio.Lock()  # what is told is the whole number of slots: nothing may overtake it
        self._news = asyncio.Event()
        self._is_away = False
        self._heard_at = time.monotonic()  # when what Redis has answered was asked
        self._workers: int | None = None  # that made calls by then
        self._epoch: int | None = None
        self._ahead = time.time() - time.monotonic()  # Redis' clock, until it is known

    # --- for calls ---

    @asynccontextmanager
    async def slot(self, limits: ModelLimits, tokens: int, seconds: float) -> AsyncIterator[Slot]:
        """Waits until the lab may make this call; the body is the call. tokens: what it may take. seconds: how long it
        may last.
        """
        use = self._uses.setdefault(limits.model_id, _Use(limits))
        use.limits = limits
        booking = await self._wait(use, tokens, seconds)
        try:
            yield Slot(self, use, booking)
        finally:
            use.held -= 1
            use.freed.set()
            self._note(use)

    def close_model(self, use: _Use, seconds: float) -> None:
        """Nobody in the lab asks the model for so long."""
        use.closed_until = max(use.closed_until, time.monotonic() + seconds)
        self._note(use)

    async def run(self) -> None:
        """Tells Redis what this process holds, at once and again and again, until it is cancelled."""
        await asyncio.to_thread(self._life.take)
        while True:
            try:
                await self._renew(time.monotonic() + RENEW_SECONDS)
            except Exception:  # one that ended this would let the lease of our slots end
                logger.exception("the limits of providers could not be told")
                await asyncio.sleep(RENEW_SECONDS)

    async def close(self) -> None:
        """Give back what is left. No call may be under way."""
        has_told = not self._is_away and await self._tell_all([], leaves=True)
        await asyncio.to_thread(self._life.give_back, is_known=has_told)
        await self._redis.aclose()

    # --- waiting for a slot ---

    async def _wait(self, use: _Use, tokens: int, seconds: float) -> Booking:
        began = time.monotonic()
        use.waits += 1
        try:
            async with use.turn:
                while True:
                    use.freed.clear()
                    found = await self._try(use, tokens, seconds, began)
                    if isinstance(found, Booking):
                        return found
                    with suppress(TimeoutError):
                        async with asyncio.timeout(found or random.uniform(*POLL_SECONDS)):
                            await use.freed.wait()
        except BaseException:
            self._note(use)  # that it waits no more; and a slot may have been granted that it does not know of
            raise
        finally:
            use.waits -= 1

    async def _try(self, use: _Use, tokens: int, seconds: float, began: float) -> Booking | float:
        """The booking of a call that may begin now, else the seconds to the next try, 0 for a moment."""
        async with self._talking:
            now = time.monotonic()
            if use.closed_until > now:
                return min(use.closed_until - now, LONGEST_PAUSE_SECONDS)
            if not self._is_away:
                limits, waited = use.limits, int(1000 * (now - began))
                per_minute = (limits.requests or 0, limits.tokens or 0)
                asked = (self.process, limits.model_id, use.held, limits.concurrency, waited, use.waits, *per_minute)
                try:
                    async with asyncio.timeout(REDIS_SECONDS):
                        granted, pause, time_there, epoch, workers = await self._ask(args=[*asked, tokens])
                except REDIS_ERRORS as error:
                    self._lose(error)
                else:
                    self._hear(now, time_there, epoch, workers)
                    if not granted:
                        return float(pause) / 1000
                    return self._begin(use, Booking(time_there // 1000, tokens, told=tokens, epoch=epoch))
            return self._begin(use, Booking(self._second(), tokens)) if self._may(use, tokens, seconds) else 0.0

    def _begin(self, use: _Use, booking: Booking) -> Booking:
        use.held += 1
        if use.per_minute:
            _forget_old(use, self._second())
            use.bookings.append(booking)
        return booking

    def _may(self, use: _Use, tokens: int, seconds: float) -> bool:
        """Whether a call may begin while Redis is away, by what this process knows alone."""
        away = time.monotonic() - self._heard_at
        limits, workers = use.limits, self._workers
        if use.held >= _room(use, workers, away, seconds):
            return False
        if not use.per_minute:
            return True
        if workers != 1 and away <= MINUTE + 1:
            return False  # the others may have used up the minute
        _forget_old(use, self._second())
        share, taken = workers or limits.concurrency, sum(one.tokens for one in use.bookings)
        may_ask = limits.requests is None or len(use.bookings) < max(1, limits.requests // share)
        return may_ask and (limits.tokens is None or not taken or taken + tokens <= limits.tokens // share)

    # --- talking to Redis ---

    async def _renew(self, until: float) -> None:
        """Tell all, then what is new, until that moment."""
        dead = await asyncio.to_thread(self._life.dead)
        if not self._is_away or await self._answers():
            await self._tell_all(dead)
        while (rest := until - time.monotonic()) > 0:
            if self._is_away:
                await asyncio.sleep(rest)
            elif await self._has_news(rest):
                await asyncio.sleep(GATHER_SECONDS)
                await self._tell_all([])

    async def _answers(self) -> bool:
        """Calls need not wait while Redis is tried again."""
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                return bool(await self._redis.ping())
        except REDIS_ERRORS:
            return False

    async def _has_news(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._news.wait()
        return False

    async def _tell_all(self, dead: list[str], *, leaves: bool = False) -> bool:
        """Whether Redis knows now what this process holds."""
        async with self._talking:
            self._news.clear()
            now = time.monotonic()
            told, begun = self._told()
            said = {"process": self.process, "epoch": self._epoch, "leaves": leaves, "dead": dead, "models": told}
            try:
                async with asyncio.timeout(REDIS_SECONDS):
                    heard = await self._tell(args=[json.dumps(said)])
            except REDIS_ERRORS as error:
                self._lose(error)
                return False
            self._hear(now, *heard)
            for booking, tokens in begun:
                booking.told, booking.epoch = tokens, self._epoch
            if self._is_away:
                logger.info("Redis answers again: the limits of providers are the whole lab's")
                self._is_away = False
        await asyncio.to_thread(self._life.forget, dead)
        return True

    def _told(self) -> tuple[list[ToldModel], list[tuple[Booking, int]]]:
        """What to tell of each model, and the bookings that Redis does not know with their tokens. A correction is told
        once at most: where it is lost, what was estimated counts.
        """
        now, told, begun = time.monotonic(), [], []
        for use in self._uses.values():
            _forget_old(use, self._second())
            booked: list[tuple[int, int, int]] = []
            for one in use.bookings:
                if one.epoch is None or one.epoch != self._epoch:
                    booked.append((one.second, 1, one.tokens))
                    begun.append((one, one.tokens))
                elif one.tokens != one.told:
                    booked.append((one.second, 0, one.tokens - one.told))
                    one.told = one.tokens
            closed = max(0, math.ceil(1000 * (use.closed_until - now)))
            if use.held or use.waits or closed or booked or use.is_news:
                use.is_news = False
                told.append(_told_model(use, closed, booked))
        return told, begun

    def _note(self, use: _Use) -> None:
        use.is_news = True
        self._news.set()

    def _hear(self, asked_at: float, time_there: int, epoch: int, workers: int) -> None:
        self._heard_at, self._workers = asked_at, workers
        self._ahead = time_there / 1000 - time.monotonic()
        if epoch != self._epoch:  # a Redis that was emptied is told what was booked in the one before
            self._epoch = epoch
            self._news.set()

    def _lose(self, error: Exception) -> None:
        for use in self._uses.values():
            use.is_news = True
            use.kept = use.kept if self._is_away else use.held
        if not self._is_away:
            self._is_away = True
            logger.warning("Redis is away (%s): providers are asked within this worker's share", type(error).__name__)

    def _second(self) -> int:
        """By Redis' clock."""
        return int(time.monotonic() + self._ahead)


def _room(use: _Use, workers: int | None, away: float, seconds: float) -> int:
    """How many calls of a model may be under way in a process that has not reached Redis for `away` seconds. It uses
    its own slots as long as they stay its own in Redis, and what is guaranteed; its equal share only once all calls of
    all workers from before have ended.
    """
    limit = use.limits.concurrency
    if workers is None:  # Redis was never reached
        return 1
    if workers > 1 and away >= LEASE_SECONDS:
        return max(1, limit // workers)
    kept = use.kept if away + seconds < LEASE_SECONDS else 0
    return max(min(kept, limit), guaranteed(limit, workers))


def _forget_old(use: _Use, second: int) -> None:
    while use.bookings and use.bookings[0].second < second - MINUTE:
        use.bookings.popleft()


def _told_model(use: _Use, closed: int, booked: list[tuple[int, int, int]]) -> ToldModel:
    limits = use.limits
    return {
        "id": str(limits.model_id),
        "held": use.held,
        "waits": use.waits,
        "closed": closed,
        "provider": limits.provider,
        "model": limits.model,
        "limit": limits.concurrency,
        "requests": limits.requests or 0,
        "tokens": limits.tokens or 0,
        "booked": booked,
    }


def begin_epoch() -> None:
    """A Redis that is new grants the first slots after a moment: let it pass before there are calls."""
    with suppress(RedisError, OSError):
        counting.connect().eval(BEGIN, 0)
