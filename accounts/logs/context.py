"""What the work at hand is about: ids that stand in every line of a log that is written meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

IDS = ("run", "step", "call", "experiment", "user", "request")
_about: ContextVar[dict[str, str] | None] = ContextVar("what a line is about", default=None)


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Adds to what is known already; None adds nothing. Tasks and callbacks that are begun within keep it."""
    token = _about.set({**known(), **_said(ids)})
    try:
        yield
    finally:
        _about.reset(token)


def note(**ids: object) -> None:
    """Add what is learnt within an `about`, until that ends: also on another thread of the same request."""
    found = _about.get()
    if found is not None:
        found.update(_said(ids))


def known() -> dict[str, str]:
    return _about.get() or {}


def _said(ids: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in ids.items() if value is not None}
