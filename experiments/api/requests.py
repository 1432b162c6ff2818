"""What every view of the API does with a request beside reading it: rows and headers, and what may cost money."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from accounts.api_requests import checked, person, validated
from accounts.scopes import Scope, needs
from experiments.api.idempotency import once, once_outside
from experiments.api.problems import ProblemSerializer
from experiments.models import Run

__all__ = ["IDEMPOTENCY_KEY", "PROBLEMS", "checked", "idempotency_key", "person", "runs_with_totals", "validated"]

TOTALS = ("turn", "input_tokens", "output_tokens", "reasoning_tokens", "call_count", "total_cost", "client_system")
PROBLEMS = dict.fromkeys((400, 401, 403, 404), ProblemSerializer)
RIVALLED = {**PROBLEMS, 409: ProblemSerializer}  # where somebody else may have been first


def runs_with_totals() -> Any:
    """A copy of rows that were described once: to describe them takes longer than to fetch them."""
    return _described_runs().all()


@cache
def _described_runs() -> Any:
    return Run.objects.with_totals(*TOTALS).with_pauses().select_related("experiment")


IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="A repetition with the same key returns the first result.",
)


def idempotency_key(request: Request) -> str:
    """Empty when there is none. Raises ValidationError for what could not be stored."""
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > 200 or not key.isprintable():
        raise ValidationError({"Idempotency-Key": ["A key has at most 200 characters, all of them printable."]})
    return str(key)


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
