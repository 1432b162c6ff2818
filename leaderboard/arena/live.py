"""The answers of the public arena as they come: a WebSocket for each visitor who waits, and one look for all of them.

A page that asked for itself would cost the web server as much every time as all visitors of a process together do here.
"""

import asyncio
import json
import logging
from contextvars import Context
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError

from accounts.addresses import address_in
from experiments.runs.live.consumers import open_sockets
from leaderboard.arena import battles
from leaderboard.models import ArenaBattle
from leaderboard.votes.voters import ballot_of

logger = logging.getLogger(__name__)
LOOK_SECONDS = 0.5


class BattleConsumer(AsyncWebsocketConsumer):
    """`/ws/public-arena/ID/`: what `news` says whenever that is new, until both answers have ended. For who asked."""

    channel_layer_alias = None  # type: ignore[assignment]  # nothing is sent through the layer
    holder = ""  # who this socket is counted for, until it is given back
    told = ""  # what was sent last

    async def __call__(self, *given: Any) -> None:
        """Daphne cancels a consumer whose client is gone while it waits: `disconnect` is not called then."""
        try:
            await super().__call__(*given)
        finally:
            self._go()

    async def connect(self) -> None:
        scope: Any = self.scope
        self.battle_id: UUID = scope["url_route"]["kwargs"]["pk"]
        session = scope["session"].session_key if "session" in scope else None  # there is none beside a token
        ballot = ballot_of(scope["user"], session)
        holder = str(scope["user"].pk or address_in(scope))
        is_own = ArenaBattle.objects.filter(pk=self.battle_id, ballot=ballot).exists
        if not await database_sync_to_async(is_own)() or not open_sockets.take(holder):
            await self.close()
            return
        self.holder = holder
        await self.accept()
        watch().join(self)

    async def disconnect(self, code: int) -> None:
        self._go()

    def _go(self) -> None:
        if self.holder:
            open_sockets.give_back(self.holder)
            self.holder = ""
            watch().leave(self)

    async def take(self, news: battles.News) -> None:
        """Closes once there is nothing more to come."""
        told = json.dumps(news, ensure_ascii=False)
        if told != self.told:
            self.told = told
            await self.send(told)
        if news["state"] != "answering":
            self._go()
            await self.close()


class Watch:
    """Those who wait, in one event loop."""

    def __init__(self) -> None:
        self._waiting: set[BattleConsumer] = set()
        self._task: asyncio.Task[None] | None = None

    def join(self, visitor: BattleConsumer) -> None:
        self._waiting.add(visitor)
        if self._task is None or self._task.done():
            # in a context of its own: it outlives the first visitor's request, and its thread
            self._task = asyncio.get_running_loop().create_task(self._look_while_any_waits(), context=Context())

    def leave(self, visitor: BattleConsumer) -> None:
        self._waiting.discard(visitor)

    async def _look_while_any_waits(self) -> None:
        while self._waiting:
            visitors = tuple(self._waiting)
            try:
                found = await database_sync_to_async(battles.news_of)({one.battle_id for one in visitors})
            except DatabaseError as error:
                logger.warning("answers of the public arena could not be read: %s", type(error).__name__)
                found = {}
            for visitor in visitors:
                try:
                    if visitor.battle_id in found:
                        await visitor.take(found[visitor.battle_id])
                except Exception as error:  # the socket's server raises errors of its own for a peer that is gone
                    logger.debug("a visitor of the public arena is gone: %s", type(error).__name__)
            await asyncio.sleep(LOOK_SECONDS)


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = WeakKeyDictionary()


def watch() -> Watch:
    return _by_loop.setdefault(asyncio.get_running_loop(), Watch())
