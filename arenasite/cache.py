"""What is counted for a short time: tries to sign in, codes that were used, refusals that were written down."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


class CountingCache(RedisCache):
    """Redis, shared with the job queue. Without it each process counts for itself: limits go on, more loosely, and
    nobody is locked out.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._own = LocMemCache("counting", params)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        return bool(self._or_own("add", super().add, args, kwargs))

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self._or_own("get", super().get, args, kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        self._or_own("set", super().set, args, kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        return bool(self._or_own("delete", super().delete, args, kwargs))

    def incr(self, *args: Any, **kwargs: Any) -> int:
        return int(self._or_own("incr", super().incr, args, kwargs))

    def clear(self) -> None:
        """What is ours alone: Django would empty the whole server, queues and all. Without Redis there is nothing."""
        self._own.clear()
        client = self._cache.get_client(write=True)
        with suppress(RedisError):
            for key in client.scan_iter(match=f"{self.key_prefix}:*"):
                client.delete(key)

    def _or_own(self, name: str, ask: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        try:
            return ask(*args, **kwargs)
        except RedisError as error:
            log.warning("Redis does not answer: this process counts tries by itself (%s)", type(error).__name__)
            return getattr(self._own, name)(*args, **kwargs)
