"""A question to the API as a value, which both faces of the client ask in their own way."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx

from arena_lab.errors import BadAnswer, Problem, SignInNeeded, Unreachable, problem_class
from arena_lab.records import Record

T = TypeVar("T")
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """path: below /api/. is_repeatable: asked twice, it does once; then it is asked again after a broken connection."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    data: Mapping[str, Any] | None = None
    files: Mapping[str, Any] | None = None
    is_repeatable: bool = True
    key: str = ""

    def headers(self) -> dict[str, str]:
        return {"Idempotency-Key": self.key} if self.key else {}

    def with_params(self, **params: Any) -> "Ask[T]":
        return replace(self, params={**self.params, **params})


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """rows, and where the next ones begin; "" after the last."""

    rows: tuple[T, ...]
    cursor: str


def get(path: str, kind: type[R], **params: Any) -> Ask[R]:
    return Ask("GET", path, _one(kind), _given(params))


def get_page(path: str, read: Callable[[Any], T], **params: Any) -> Ask[Page[T]]:
    def read_page(response: httpx.Response) -> Page[T]:
        document = _json(response)
        if not isinstance(document, dict) or not isinstance(document.get("results"), list):
            raise BadAnswer(f"{path}: a page of rows was expected.")
        return Page(tuple(read(row) for row in document["results"]), _cursor(document.get("next")))

    return Ask("GET", path, read_page, _given(params))


def get_rows(path: str, kind: type[R], **params: Any) -> Ask[tuple[R, ...]]:
    """Of a list that comes whole."""

    def read(response: httpx.Response) -> tuple[R, ...]:
        rows = _json(response)
        if not isinstance(rows, list):
            raise BadAnswer(f"{path}: a list was expected.")
        return tuple(kind.read(row) for row in rows)

    return Ask("GET", path, read, _given(params))


def get_file(path: str, **params: Any) -> Ask[httpx.Response]:
    return Ask("GET", path, lambda response: response, _given(params))


def post(path: str, kind: type[R], body: Mapping[str, Any] | None = None, *, is_repeatable: bool = False) -> Ask[R]:
    return Ask("POST", path, _one(kind), json=body, is_repeatable=is_repeatable)


def delete(path: str) -> Ask[None]:
    return Ask("DELETE", path, lambda _response: None)


def spend(path: str, kind: type[R], body: Mapping[str, Any], key: str | None) -> Ask[R]:
    """A post that costs money. Under its key it is done once, however often it has to be sent."""
    return Ask("POST", path, _one(kind), json=body, key=key or str(uuid4()))


def answered(ask: Ask[T], outcome: httpx.Response | httpx.TransportError, address: str) -> T:
    """What was asked for. Raises an ArenaError."""
    if isinstance(outcome, httpx.TransportError):
        raise Unreachable(_no_answer(ask, outcome, address)) from outcome
    if outcome.is_redirect:
        raise BadAnswer(f"{address} sends on to {outcome.headers.get('location')}: use that address.")
    if not outcome.is_success:
        raise problem_of(outcome)
    return ask.read(outcome)


def _no_answer(ask: Ask[Any], error: httpx.TransportError, address: str) -> str:
    said = str(error) or type(error).__name__
    if never_arrived(error):
        return f"{address} cannot be reached: {said}"
    unsure = "" if ask.is_repeatable else " Whether it was done is not known: look before you repeat it."
    return f"{address} gave no answer to {ask.method} {ask.path}: {said}.{unsure}"


def never_arrived(error: httpx.TransportError) -> bool:
    return isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


def problem_of(response: httpx.Response) -> Problem:
    try:
        said = response.json()
    except (ValueError, RecursionError):
        said = None
    said = said if isinstance(said, dict) else {}
    title, detail = str(said.get("title") or response.reason_phrase), str(said.get("detail") or "")
    errors = said.get("errors")
    kind = problem_class(response.status_code)
    if kind is SignInNeeded:
        detail = f"{detail} Give a token that is valid: `arena login`, or ARENA_TOKEN.".strip()
    return kind(
        response.status_code,
        title,
        detail,
        errors=errors if isinstance(errors, dict) else None,
        retry_after=retry_after(response),
    )


def retry_after(response: httpx.Response) -> float | None:
    """Seconds, said as a number or as a time."""
    said = response.headers.get("retry-after", "")
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _one(kind: type[R]) -> Callable[[httpx.Response], R]:
    return lambda response: kind.read(_json(response))


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"{response.request.url} did not answer with JSON: is it the address of a platform?") from error


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _cursor(address: Any) -> str:
    """Only the cursor is taken from the address of the next page: the token goes to nobody but the platform."""
    found = parse_qs(urlsplit(address).query).get("cursor", []) if isinstance(address, str) else []
    return found[0] if found else ""
