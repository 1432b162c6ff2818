"""Waiting for a run to come to a point, and following it, without a thread or a connection held meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from django.db import connection
from rest_framework.request import Request

from experiments.models.work import Envelope
from experiments.runs.live.viewers import EncodedText, Entry, newest_events, viewers

PATIENCE_SECONDS = 900.0
BEAT_SECONDS = 15.0

Found = TypeVar("Found")


class Listener:
    """A viewer that only notes that there is news, so that the database is read again."""

    def __init__(self, entry: Entry) -> None:
        self.run_id: UUID = entry.run_id
        self.entry = entry
        self.seen = 0
        self.is_signed_out = False
        self._changed = asyncio.Event()

    async def take_piece(self, piece: EncodedText) -> None:
        """Pieces of an answer under way are nothing that is waited for."""

    async def take_event(self, envelope: Envelope, encoded: dict[str, EncodedText]) -> bool:
        self.seen = max(self.seen, envelope["seq"])
        self._changed.set()
        return True

    async def catch_up(self) -> None:
        self.seen = (await newest_events({self.run_id})).get(self.run_id, self.seen)
        self._changed.set()

    async def sign_out(self) -> None:
        self.is_signed_out = True
        self._changed.set()

    def fall_silent(self) -> None:
        self._changed.clear()

    async def news(self, seconds: float) -> bool:
        """Whether there was any within so many seconds."""
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return False
        return True


def entry_of(request: Request, run_id: UUID) -> Entry:
    """The sign-in or token of the request, which is checked again for as long as it waits."""
    token: Any = request.auth
    if token is not None:
        return Entry(None, token.digest, request.user.pk or 0, run_id)
    return Entry(request.session.session_key, None, request.user.pk or 0, run_id)


def wait(request: Request, run_id: UUID, look: Callable[[], Found | None]) -> Found | None:
    """What `look` finds in the database, now or after an event of the run; None when it finds nothing in time."""
    _let_go()
    return async_to_sync(_wait)(entry_of(request, run_id), look)


async def _wait(entry: Entry, look: Callable[[], Found | None]) -> Found | None:
    until = time.monotonic() + PATIENCE_SECONDS
    listener = Listener(entry)
    await viewers().join(listener)
    try:
        while time.monotonic() < until and not listener.is_signed_out:
            listener.fall_silent()
            found: Found | None = await _looked(look)
            if found is not None:
                return found
            await listener.news(min(BEAT_SECONDS, until - time.monotonic()))
    finally:
        await viewers().leave(listener)
    return None


async def follow(entry: Entry, look: Callable[[], tuple[list[str], bool]]) -> AsyncIterator[str]:
    """What `look` has to tell, after every event of the run, until it says that this was all."""
    listener = Listener(entry)
    await viewers().join(listener)
    try:
        while not listener.is_signed_out:
            listener.fall_silent()
            pieces, is_all = await _looked(look)
            for piece in pieces:
                yield piece
            if is_all:
                return
            if not await listener.news(BEAT_SECONDS):
                yield ": still at it\n\n"
    finally:
        await viewers().leave(listener)


@sync_to_async
def _looked(look: Callable[[], Any]) -> Any:
    try:
        return look()
    finally:
        _let_go()


def _let_go() -> None:
    """While it waits it holds no connection to the database."""
    if not connection.in_atomic_block:
        connection.close()
