"""Who asks, for what is on offer: a list of choices is made deep inside a form, and depends on the person as a word
depends on the language. What anybody may do is never decided by it: verbs are told who asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

_asker: ContextVar["User | AnonymousUser | None"] = ContextVar("who asks", default=None)


def asker() -> "User | AnonymousUser | None":
    """None where nobody asks, as in a command or a worker."""
    return _asker.get()


@contextmanager
def asked_by(person: "User | AnonymousUser | None") -> Iterator[None]:
    """Whatever is offered within is offered to this person."""
    token = _asker.set(person)
    try:
        yield
    finally:
        _asker.reset(token)
