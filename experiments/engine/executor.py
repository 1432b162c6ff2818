"""Makes the calls: all model calls of a worker share one asyncio loop in a thread of its own. No database."""

import asyncio
import logging
import queue
import sys
import threading
import time
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from experiments.engine.events import News
from experiments.engine.partial_text import Partial
from experiments.engine.shared_limits import ModelLimits, SharedLimits, Slot
from experiments.gateway import Client, GatewayError, guarded_transport
from experiments.gateway.retry import START, Limiter
from experiments.gateway.transport import MANY_STREAMS, gathering_seconds
from experiments.gateway.types import ChatRequest, Completion

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05  # text of one stream is sent on at most this often; people do not see the difference
READING_SECONDS = 0.01  # that many streams may take to read what they have gathered, before it is sent on
MOST_CONNECTIONS = 1000
LOOKUPS = 64  # of names, at the same time
SWITCH_SECONDS = 0.0005  # every read gives up the interpreter; the main thread must give it back sooner than in 5 ms


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider model is asked."""

    base_url: str
    api_key: str = field(repr=False)
    allow_private: bool
    model: str
    concurrency: int = 100
    is_simulated: bool = False
    provider: str = ""
    model_id: int = 0
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def limits(self) -> ModelLimits:
        per_minute = (self.requests_per_minute, self.tokens_per_minute)
        return ModelLimits(self.model_id, self.provider, self.model, self.concurrency, *per_minute)


@dataclass(slots=True)
class PendingCall:
    """One call to be made: the request and where its text shows. tokens: the most that it may take, as estimated."""

    call_id: UUID
    run_id: UUID
    endpoint: Endpoint
    request: ChatRequest
    tokens: int = 0
    seat: str = ""
    turn: int | None = None
    purpose: str = "reply"
    is_shown: bool = False
    parts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    shown: tuple[int, int] = (0, 0)
    offset: int = 0
    reasoning_offset: int = 0
    saved: tuple[int, int] = (0, 0)
    begun: float = 0.0
    first_byte: float | None = None
    is_stopped: bool = False
    is_sent: bool = False


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of a call. completion holds the partial answer when there is an error or the call was stopped.
    was_sent False: it was stopped while it still waited for its turn at the provider. seconds: None of one in a batch.
    """

    call_id: UUID
    run_id: UUID
    completion: Completion
    error: GatewayError | None
    seconds: float | None
    first_byte_seconds: float | None
    is_stopped: bool = False
    was_sent: bool = True


@dataclass(frozen=True, slots=True)
class WakeUp:
    """There may be something elsewhere. channel: of `wakeups`; about: the run that it concerns, where it is one."""

    channel: str
    about: str = ""


class Outlet(Protocol):
    """Where the viewers' news goes."""

    async def send(self, news: Sequence[News]) -> None: ...
    async def close(self) -> None: ...


class CallExecutor:
    """Makes calls, sends their text to the viewers as it arrives, and reports each one's end on `results`. limits:
    those that it shares with other processes; None for a process that is alone.
    """

    def __init__(self, outlet: Outlet, limits: SharedLimits | None = None) -> None:
        self.results: queue.Queue[CallResult | WakeUp] = queue.Queue()
        self._outlet, self._limits = outlet, limits
        self._pending: dict[UUID, PendingCall] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._clients: dict[tuple[str, str, bool], Client] = {}
        self._transports = {
            allowed: guarded_transport(allow_private=allowed, max_connections=MOST_CONNECTIONS)
            for allowed in (False, True)
        }
        self._limiters: dict[tuple[str, str], Limiter] = {}
        self._named: dict[tuple[str, str], str] = {}  # the limiters' providers
        self._outbox: list[News] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="model-calls", daemon=True)

    # --- called by other threads ---

    def start(self) -> None:
        sys.setswitchinterval(SWITCH_SECONDS)
        self._thread.start()
        self._call_soon(self._flush_forever())
        if self._limits:
            self._call_soon(self._limits.run())

    def submit(self, call: PendingCall) -> None:
        self._pending[call.call_id] = call
        self._loop.call_soon_threadsafe(self._begin, call)

    def stop(self, call_id: UUID) -> None:
        """Close the call's upstream socket; its result says is_stopped."""
        if call := self._pending.get(call_id):
            call.is_stopped = True
            self._loop.call_soon_threadsafe(self._cancel, call)

    def partials(self) -> list[Partial]:
        """Calls whose text has grown since it was saved."""
        grown = []
        for call in list(self._pending.values()):
            size = (len(call.parts), len(call.thoughts))
            if size != call.saved:
                grown.append(Partial(call.call_id, "".join(call.parts), "".join(call.thoughts), size))
        return grown

    def saved(self, partials: Iterable[Partial]) -> None:
        """These are in the database: only what comes after them is asked for again."""
        for one in partials:
            if call := self._pending.get(one.call_id):
                call.saved = one.size

    def send(self, news: News) -> None:
        """Send to the viewers of a run, in order with the text that was streamed before."""
        self._loop.call_soon_threadsafe(lambda: self._outbox.append(news))

    def paused_providers(self) -> list[str]:
        """Of each limiter that gives out no slot at the moment; any thread may ask."""
        return [self._named[key] for key, limiter in list(self._limiters.items()) if limiter.is_closed]

    def close(self, timeout: float = 5.0) -> None:
        self._call_soon(self._shut_down()).result(timeout)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout)
        if not self._thread.is_alive():
            self._loop.close()  # a worker makes a new one for every job; left to the collector they add up

    # --- in the loop ---

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        # Names are looked up in threads: some that hang must not keep the others from being found.
        self._loop.set_default_executor(ThreadPoolExecutor(LOOKUPS, thread_name_prefix="names"))
        self._loop.run_forever()

    def _call_soon(self, coroutine: Coroutine[Any, Any, None]) -> "Future[None]":
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _begin(self, call: PendingCall) -> None:
        self._tasks[call.call_id] = self._loop.create_task(self._execute(call))

    def _cancel(self, call: PendingCall) -> None:
        """A task that was cancelled before its first step would never run, and its result would be missing."""
        task = self._tasks.get(call.call_id)
        if task and call.begun:
            task.cancel()

    async def _execute(self, call: PendingCall) -> None:
        call.begun = time.monotonic()
        completion, error = Completion(), None
        try:
            if not call.is_stopped:
                completion = await self._stream(call)
        except GatewayError as problem:
            completion, error = problem.partial or _partial(call), problem
        except asyncio.CancelledError:
            call.is_stopped = True
            completion = _partial(call)
        except Exception as bug:
            logger.exception("call=%s failed inside the gateway", call.call_id)
            completion, error = _partial(call), GatewayError(f"The gateway failed: {type(bug).__name__}.")
        self._show(call)
        self._pending.pop(call.call_id, None)
        self._tasks.pop(call.call_id, None)
        self._report(
            CallResult(
                call_id=call.call_id,
                run_id=call.run_id,
                completion=completion,
                error=None if call.is_stopped else error,
                seconds=time.monotonic() - call.begun,
                first_byte_seconds=None if call.first_byte is None else call.first_byte - call.begun,
                is_stopped=call.is_stopped,
                was_sent=call.is_sent,
            )
        )

    def _report(self, result: CallResult) -> None:
        self.results.put(result)

    def _note_sending(self, call: PendingCall) -> None:
        call.begun, call.is_sent = time.monotonic(), True

    async def _stream(self, call: PendingCall) -> Completion:
        limiter, seconds = self._limiter(call.endpoint), call.request.deadlines.total
        shared = self._limits.slot(call.endpoint.limits, call.tokens, seconds) if self._limits else nullcontext(Slot())
        async with limiter.slot(), shared as slot:
            self._note_sending(call)
            try:
                completion = await self._collect(call)
            except GatewayError as error:
                limiter.report(error)
                slot.failed(error)
                raise
            limiter.report(None)
            slot.answered(completion.usage)
            return completion

    async def _collect(self, call: PendingCall) -> Completion:
        async for item in self._client(call.endpoint).stream(call.request):
            if isinstance(item, Completion):
                return item
            if call.first_byte is None:
                call.first_byte = time.monotonic()
            if item.text:
                call.parts.append(item.text)
            if item.reasoning:
                call.thoughts.append(item.reasoning)
        raise GatewayError("The stream ended without a result.")

    def _client(self, endpoint: Endpoint) -> Client:
        key = (endpoint.base_url, endpoint.api_key, endpoint.allow_private)
        if key not in self._clients:
            transport = self._transports[endpoint.allow_private]
            self._clients[key] = Client(endpoint.base_url, endpoint.api_key, transport)
        return self._clients[key]

    def _limiter(self, endpoint: Endpoint) -> Limiter:
        """A real provider is approached carefully; the simulated one is ours and takes what it is given."""
        key = (endpoint.base_url, endpoint.model)
        if key not in self._limiters:
            start = endpoint.concurrency if endpoint.is_simulated else min(START, endpoint.concurrency)
            self._limiters[key] = Limiter(start=start, cap=endpoint.concurrency)
            self._named[key] = endpoint.provider
        return self._limiters[key]

    async def _flush_forever(self) -> None:
        while True:
            await asyncio.sleep(self._flush_seconds)
            await self._flush()

    @property
    def _flush_seconds(self) -> float:
        if len(self._pending) < MANY_STREAMS:
            return FLUSH_SECONDS
        return gathering_seconds(time.monotonic()) + READING_SECONDS

    async def _flush(self) -> None:
        for call in list(self._pending.values()):
            self._show(call)
        await self._empty_outbox()

    def _show(self, call: PendingCall) -> None:
        """Post what the viewers have not seen yet. Offsets count characters of the text, so that a gap is noticed."""
        text = "".join(call.parts[call.shown[0] :])
        reasoning = "".join(call.thoughts[call.shown[1] :])
        if not call.is_shown or not (text or reasoning):
            return
        data = {"call": str(call.call_id), "seat": call.seat, "turn": call.turn, "purpose": call.purpose}
        data |= {"offset": call.offset, "text": text}
        data |= {"reasoning_offset": call.reasoning_offset, "reasoning": reasoning}
        call.shown = (len(call.parts), len(call.thoughts))
        call.offset += len(text)
        call.reasoning_offset += len(reasoning)
        self._outbox.append(News(call.run_id, {"type": "run.delta", "run": str(call.run_id), "data": data}))

    async def _empty_outbox(self) -> None:
        """Viewers are a courtesy: without Redis the run goes on, and they catch up from the database."""
        if not self._outbox:
            return
        news, self._outbox = self._outbox, []
        try:
            await self._outlet.send(news)
        except Exception as error:  # redis, its client and the channel layer raise errors without a common base
            logger.warning("viewers of %s runs were not reached: %s", len(news), type(error).__name__)

    async def _shut_down(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        if self._limits:
            await self._limits.close()
        for client in self._clients.values():
            await client.aclose()
        for transport in self._transports.values():
            await transport.aclose()
        await self._outlet.close()


def _partial(call: PendingCall) -> Completion:
    return Completion(text="".join(call.parts), reasoning="".join(call.thoughts))
