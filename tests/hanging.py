"""A guard against readers that hang: it tells a reader that goes over a text again and again from one that does not."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_hanging(seconds: float = 20.0) -> Iterator[None]:
    """CPU seconds of this process; so many that no busy machine comes near them, and few enough for a square."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds
