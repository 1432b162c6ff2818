"""What is computed or written once per state of a ladder, and then given to everybody."""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import caches

KEPT_SECONDS = 6 * 3600

T = TypeVar("T")


def remembered(name: str, key: Any, make: Callable[[], T]) -> T:
    """What `make` gave for this key before, in this process, or what it gives now. The key's `repr` says it all."""
    place = f"{name}:{hashlib.sha256(repr(key).encode()).hexdigest()}"
    found: T | None = caches["memory"].get(place)
    if found is None:
        found = make()
        caches["memory"].set(place, found, KEPT_SECONDS)
    return found
