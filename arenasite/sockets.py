"""What is known of every WebSocket: its id stands in every line of a log that is written for it."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from accounts import logs
from arenasite.requests import HEADER, request_id

logger = logging.getLogger("arenasite.requests")
Application = Callable[..., Awaitable[None]]


class NamedSockets:
    """Who opened one, and which, stands in the lines of requests."""

    def __init__(self, inner: Application) -> None:
        self._inner = inner

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope["headers"]).get(HEADER.lower().encode(), b"").decode("ascii", "replace")
        with logs.about(request=request_id(given)):
            logger.info("WEBSOCKET %s opens", scope["path"])
            try:
                await self._inner(scope, receive, send)
            finally:
                logger.info("WEBSOCKET %s has ended", scope["path"])
