"""How many sockets somebody may hold open, and how much a socket may ask. Of one process; nothing is shared."""

import time
from collections import Counter

from django.conf import settings

MESSAGES, SECONDS = 60, 10.0  # a page asks once in some seconds, and a few times at once after it was asleep


class Pace:
    """At most MESSAGES in SECONDS, counted anew when those are over."""

    def __init__(self) -> None:
        self._since, self._count = time.monotonic(), 0

    def has_room(self) -> bool:
        now = time.monotonic()
        if now - self._since >= SECONDS:
            self._since, self._count = now, 0
        self._count += 1
        return self._count <= MESSAGES


class Places:
    """Who holds how many sockets: a person by their key, a visitor by the address."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    def take(self, holder: str) -> bool:
        """Whether there was a place. Who took one gives it back."""
        if self._held[holder] >= settings.SOCKETS_PER_PERSON:
            return False
        self._held[holder] += 1
        return True

    def give_back(self, holder: str) -> None:
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]


places = Places()
