"""Paced sending: every token has an absolute due time, so that delays of the machine do not add up."""

import asyncio
import time
from collections.abc import Iterator
from itertools import islice
from typing import Final

from experiments.gateway.simulated.asgi import Send, write
from experiments.gateway.simulated.ledger import Entry
from experiments.gateway.simulated.names import DEFAULT_TPS

BATCH: Final = 64
WRITES_PER_SECOND: Final = 3000


class Pacer:
    """All streams of a server. A write costs far more than a token, so many streams at once take turns: each then
    sends the tokens that have come due in the meantime together, 200 streams about every 70 ms.
    """

    def __init__(self, default_tps: float = DEFAULT_TPS) -> None:
        self.default_tps = default_tps
        self._active = 0

    async def send(
        self, send: Send, frames: Iterator[bytes], entry: Entry, *, tps: float, limit: int | None = None
    ) -> None:
        """Sends up to `limit` frames at `tps` a second, 0 meaning without delay. The first is due at once."""
        self._active += 1
        try:
            await self._send(send, islice(frames, limit), entry, tps)
        finally:
            self._active -= 1

    async def _send(self, send: Send, frames: Iterator[bytes], entry: Entry, tps: float) -> None:
        began, sent = asyncio.get_running_loop().time(), 0
        while batch := list(islice(frames, await self._due(began, sent, tps))):
            if entry.first_byte is None:
                entry.first_byte = time.time()
            await write(send, b"".join(batch), more=True)
            sent += len(batch)
            entry.tokens_sent += len(batch)

    async def _due(self, began: float, sent: int, tps: float) -> int:
        """Waits until a token is due, and says how many are."""
        if tps == 0:
            await asyncio.sleep(0)
            return BATCH
        now = asyncio.get_running_loop().time
        pause = self._active / WRITES_PER_SECOND if sent else 0.0
        await asyncio.sleep(max(began + sent / tps - now(), pause))
        return max(1, int((now() - began) * tps) + 1 - sent)
