"""How often the API may be asked: so many requests of one person and of one address in a minute, and what waits for
others less often. 0 in the settings is no limit."""

import time
from typing import Any

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from accounts.addresses import address_of

MINUTE = 60


class PerMinute(BaseThrottle):
    """Counts whole minutes by one clock. What is left is noted at the request, for the headers of its answer."""

    setting = ""

    def allow_request(self, request: Request, view: Any) -> bool:
        most, who = int(getattr(settings, self.setting)), self.counted(request)
        if not most or who is None:
            return True
        minute, self._left = self._clock()
        used = counted(f"rate:{self.setting}:{who}:{minute}", 2 * MINUTE)
        self._note(request, most, max(most - used, 0))
        return used <= most

    def wait(self) -> float:
        return self._left

    def counted(self, request: Request) -> str | None:
        """Whose requests are counted together. None: nobody's."""
        raise NotImplementedError

    def _clock(self) -> tuple[int, int]:
        """The minute, and how many seconds of it are left, of which there is at least one."""
        now = int(time.time())
        return now // MINUTE, MINUTE - now % MINUTE

    def _note(self, request: Request, most: int, left: int) -> None:
        before = getattr(request._request, "rate", None)
        if before is None or left < before["remaining"]:
            request._request.rate = {"limit": most, "remaining": left, "reset": self._left}  # type: ignore[attr-defined]  # a mark on the request, read where the headers are written


class OfPerson(PerMinute):
    setting = "API_PER_PERSON"

    def counted(self, request: Request) -> str | None:
        return str(request.user.pk) if request.user.is_authenticated else None


class OfAddress(PerMinute):
    setting = "API_PER_ADDRESS"

    def counted(self, request: Request) -> str | None:
        return address_of(request._request)


class OfTests(OfPerson):
    """Asking a provider whether a key is good costs money, and is a way to try stolen keys."""

    setting = "API_KEY_TESTS"


def counted(key: str, seconds: int) -> int:
    """How often it was counted, this time included, in so many seconds from the first time on."""
    cache.add(key, 0, seconds)
    try:
        return int(cache.incr(key))
    except ValueError:  # it expired, or Redis went away, between the two
        return 1
