"""What may cost money: it needs the scope `spend`, and a repetition under one `Idempotency-Key` spends once."""

from collections.abc import Callable
from typing import Any, TypeVar

from rest_framework.request import Request

from accounts.scopes import Scope, needs
from experiments.api.idempotency import once, once_outside
from experiments.api.requests import idempotency_key, person

Handler = TypeVar("Handler", bound=Callable[..., Any])


def spends(handler: Handler) -> Handler:
    """A handler that lets models be asked. What it does, it does within `spent`, or a verb that takes the key."""
    handler.spends = True  # type: ignore[attr-defined]  # a mark on a function, read where it is called
    return needs(Scope.SPEND)(handler)


def spent(request: Request, verb: Callable[[], Any], *asked: Any) -> Any:
    """What the verb gave, a JSON value; for a repetition of the request, what it gave then. asked: what the request
    says beside its address. Raises KeyReused, and what the verb raises: then the key is free again.
    """
    return _kept(once, request, verb, asked)


def spent_slowly(request: Request, verb: Callable[[], Any], *asked: Any) -> Any:
    """As `spent`, for a verb that waits for others: no transaction is open meanwhile. Raises UnderWay too."""
    return _kept(once_outside, request, verb, asked)


def _kept(way: Any, request: Request, verb: Callable[[], Any], asked: tuple[Any, ...]) -> Any:
    key, said = idempotency_key(request), (request.method, request.path, *asked)
    return way(lambda: {"gave": verb()}, by=person(request), key=key, request=said)["gave"]
