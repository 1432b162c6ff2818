"""One visit to the database for all who ask the same at the same time: many viewers lose the same piece together."""

import asyncio
from contextvars import Context
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async

from experiments.live.news import events_after, partials

Rows = tuple[list[dict[str, Any]], list[dict[str, Any]]]


class Backfill:
    """Belongs to one event loop. Nobody is given what was read before they asked: they wait for the next visit."""

    def __init__(self) -> None:
        self._asked: dict[tuple[UUID, int], asyncio.Task[Rows]] = {}
        self._visiting = asyncio.Lock()

    async def rows(self, run_id: UUID, seq: int) -> Rows:
        """The next events after that number, and the text of the calls under way."""
        key = run_id, seq
        if key not in self._asked:
            # In a context of its own: it may outlive the socket of whoever came first, and its thread.
            self._asked[key] = asyncio.get_running_loop().create_task(self._visit(*key), context=Context())
        return await asyncio.shield(self._asked[key])

    async def _visit(self, run_id: UUID, seq: int) -> Rows:
        async with self._visiting:
            del self._asked[run_id, seq]  # whoever asks from now on may know of more
            return await _read(run_id, seq)


@database_sync_to_async
def _read(run_id: UUID, seq: int) -> Rows:
    return events_after(run_id, seq), partials(run_id)
