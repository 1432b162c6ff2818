"""Who asks, for what is on offer: a list of choices is made deep inside a form, and depends on the person as a word
depends on the language. What anybody may do is never decided by it: verbs are told who asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Found = TypeVar("Found")

_asker: ContextVar["User | AnonymousUser | None"] = ContextVar("who asks", default=None)
_found: ContextVar[dict[Callable[..., Any], Any] | None] = ContextVar("what was found for them", default=None)


def asker() -> "User | AnonymousUser | None":
    """None where nobody asks, as in a command or a worker."""
    return _asker.get()


def once(find: "Callable[[User | AnonymousUser | None], Found]") -> Found:
    """What `find` finds for whoever asks: looked up once for all that they ask for at a time."""
    found = _found.get()
    if found is None:
        return find(asker())
    if find not in found:
        found[find] = find(asker())
    return found[find]  # type: ignore[no-any-return]  # each function is the key of what it returned


@contextmanager
def asked_by(person: "User | AnonymousUser | None") -> Iterator[None]:
    """Whatever is offered within is offered to this person."""
    who, what = _asker.set(person), _found.set({})
    try:
        yield
    finally:
        _found.reset(what)
        _asker.reset(who)
