"""All viewers of a process: one subscription per run serves them, and a few queries look after them.

Channels would give every socket a subscription, a queue and a thread's visit per message of its own; at a few hundred
viewers of streaming text that is most of what a core can do.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextvars import Context
from typing import Any, NamedTuple, Protocol
from uuid import UUID
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken, User
from experiments.engine.events import delta, group_of, joined
from experiments.lab.observing import counting
from experiments.models import Run
from experiments.models.work import Envelope
from experiments.runs.live.backlog import Backfill

logger = logging.getLogger(__name__)
LOOK_SECONDS = 3.0
ROUND_SECONDS = 0.01


class Entry(NamedTuple):
    """By what a viewer was let in: the session or the token, the person (0 for a visitor), the run."""

    session: str | None
    token: str | None
    user_id: int
    run_id: UUID


@database_sync_to_async
def allowed(entries: set[Entry]) -> set[Entry]:
    """Those whose session or token still holds and whose person may still see the run."""
    sessions = _alive(Session.objects.filter(expire_date__gt=timezone.now()), {e.session for e in entries})
    unexpired = Q(expiry__isnull=True) | Q(expiry__gt=timezone.now())
    tokens = _alive(ApiToken.objects.filter(unexpired), {e.token for e in entries})
    runs_of: dict[int, set[UUID]] = defaultdict(set)
    for entry in entries:
        runs_of[entry.user_id].add(entry.run_id)
    visible = {(user_id, run_id) for user_id, runs in runs_of.items() for run_id in _visible(user_id, runs)}
    known = {e for e in entries if e.session in sessions or e.token in tokens or not e.user_id}
    return {e for e in known if (e.user_id, e.run_id) in visible}


@database_sync_to_async
def newest_events(run_ids: set[UUID]) -> dict[UUID, int]:
    return dict(Run.objects.filter(pk__in=run_ids).values_list("pk", "last_seq"))


def _alive(rows: Any, keys: set[str | None]) -> set[str]:
    return set(rows.filter(pk__in=[key for key in keys if key]).values_list("pk", flat=True))


def _visible(user_id: int, runs: Iterable[UUID]) -> list[UUID]:
    user = User.objects.filter(pk=user_id, is_active=True).first() if user_id else AnonymousUser()
    return list(Run.objects.visible_to(user).filter(pk__in=runs).values_list("pk", flat=True)) if user else []


class EncodedText:
    """A text for many viewers, put into a WebSocket frame once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._frame = b""

    def framed(self, frame: Callable[[str], bytes]) -> bytes:
        self._frame = self._frame or frame(self.text)
        return self._frame


class Viewer(Protocol):
    """One socket."""

    run_id: UUID
    entry: Entry
    seen: int

    async def take_piece(self, piece: EncodedText) -> None: ...
    async def take_event(self, envelope: Envelope, encoded: dict[str, EncodedText]) -> bool: ...
    async def catch_up(self) -> None: ...
    async def sign_out(self) -> None: ...


class Viewers:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self.backfill = Backfill()
        self._of_run: defaultdict[UUID, set[Viewer]] = defaultdict(set)
        self.count = 0
        self._subscribed: set[UUID] = set()
        self._layer: Any = get_channel_layer()
        self._channel = ""
        self._opening = asyncio.Lock()
        self._inbox: defaultdict[UUID, list[dict[str, Any]]] = defaultdict(list)
        self._has_messages = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._started: set[asyncio.Task[None]] = set()

    async def join(self, viewer: Viewer) -> None:
        """From now on the viewer gets what its run's driver sends."""
        self._of_run[viewer.run_id].add(viewer)
        self.count = sum(map(len, self._of_run.values()))
        if not self._tasks:
            loop = asyncio.get_running_loop()
            work = (self._receive_forever(), self._deliver_forever(), self._look_forever())
            # In contexts of their own: they outlive the first viewer's request, and its thread.
            self._tasks = [loop.create_task(coroutine, context=Context()) for coroutine in work]
        await self._subscribe(viewer.run_id)

    async def leave(self, viewer: Viewer) -> None:
        viewers = self._of_run[viewer.run_id]
        viewers.discard(viewer)
        self.count = sum(map(len, self._of_run.values()))
        if viewers:
            return
        del self._of_run[viewer.run_id]
        await self._unsubscribe(viewer.run_id)
        if not self._of_run:
            for task in self._tasks:
                task.cancel()
            self._tasks, self._channel = [], ""
            self._subscribed.clear()

    # --- the channel layer ---

    async def _subscribe(self, run_id: UUID) -> bool:
        """Without Redis the viewers are kept up to date from the table, and the next look tries again."""
        if run_id in self._subscribed:
            return True
        try:
            async with self._opening:  # of two channels only one would be listened to
                self._channel = self._channel or await self._layer.new_channel()
            await self._layer.group_add(group_of(run_id), self._channel)
            self._subscribed.add(run_id)
        except Exception as error:  # redis, its client and the channel layer raise errors without a common base
            logger.warning("run=%s viewers are not live: %s", run_id, type(error).__name__)
            return False
        return True

    async def _unsubscribe(self, run_id: UUID) -> None:
        self._subscribed.discard(run_id)
        try:
            await self._layer.group_discard(group_of(run_id), self._channel)
        except Exception as error:  # redis, its client and the channel layer raise errors without a common base
            logger.warning("run=%s group could not be left: %s", run_id, type(error).__name__)

    async def _receive_forever(self) -> None:
        while True:
            if not self._channel:
                await asyncio.sleep(0.1)
                continue
            message = await self._layer.receive(self._channel)
            self._inbox[UUID(message["run"])].append(message)
            self._has_messages.set()

    async def _deliver_forever(self) -> None:
        """Deliver in rounds. When a round takes long, the next one has more to join, so that no viewer falls behind."""
        while True:
            await self._has_messages.wait()
            self._has_messages.clear()
            inbox = self._inbox
            self._inbox = defaultdict(list)
            for run_id, messages in inbox.items():
                for message in joined(messages):
                    await self._deliver(run_id, message)
            await asyncio.sleep(ROUND_SECONDS)

    async def _deliver(self, run_id: UUID, message: dict[str, Any]) -> None:
        """Nothing here may wait for the database: the other viewers would wait too."""
        piece = EncodedText(delta(run_id, message["data"])) if message["type"] == "run.delta" else None
        encoded: dict[str, EncodedText] = {}
        for viewer in tuple(self._of_run.get(run_id, ())):
            try:
                if piece:
                    await viewer.take_piece(piece)
                elif not await viewer.take_event(message["envelope"], encoded):
                    self._start(viewer.catch_up())
            except Exception as error:  # the socket's server raises errors of its own for a peer that is gone
                logger.debug("run=%s a viewer is gone: %s", run_id, type(error).__name__)

    def _start(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._started.add(task)
        task.add_done_callback(self._started.discard)

    # --- the look: still signed in, still allowed, and not behind the table ---

    async def _look_forever(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look([viewer for viewers in self._of_run.values() for viewer in viewers])
            except DatabaseError as error:
                logger.warning("viewers could not be looked after: %s", type(error).__name__)
            except Exception:
                logger.exception("viewers could not be looked after")

    async def _look(self, viewers: list[Viewer]) -> None:
        passes = await allowed({viewer.entry for viewer in viewers})
        newest = await newest_events({viewer.run_id for viewer in viewers})
        for viewer in viewers:
            try:
                if viewer.entry not in passes:
                    await viewer.sign_out()
                elif newest.get(viewer.run_id, 0) > viewer.seen:
                    self._start(viewer.catch_up())  # a slow reader does not delay the others
            except Exception:
                logger.exception("run=%s a viewer could not be looked after", viewer.run_id)
        for run_id in list(self._of_run):
            if not await self._subscribe(run_id):
                return  # Redis is away, and each try takes its time


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Viewers] = WeakKeyDictionary()


def _count() -> dict[tuple[str, ...], float]:
    """Sockets of this process; called by the thread that exports metrics, so no lock is held while it counts."""
    return {(): float(sum(each.count for each in list(_by_loop.values())))}


def viewers() -> Viewers:
    if not _by_loop:
        counting.gauge(counting.VIEWERS, _count)
    return _by_loop.setdefault(asyncio.get_running_loop(), Viewers())
