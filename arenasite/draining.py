"""Whether this web process is about to end. From then on it is not ready, and answers whoever is there already."""

import threading

_begun = threading.Event()


def begin() -> None:
    _begun.set()


def has_begun() -> bool:
    return _begun.is_set()


def forget() -> None:
    """As if it had not begun; for tests."""
    _begun.clear()
