"""Asks a model: HTTP to an OpenAI-compatible provider under deadlines, and nothing that could be known without HTTP."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Self, TypeVar, cast

import httpx

from experiments.gateway.answer import Answer
from experiments.gateway.errors import (
    BadAnswer,
    BadKey,
    GatewayError,
    Origin,
    OutcomeUnknown,
    Refused,
    Unreachable,
    classify,
    excerpt,
    readable,
    tried,
)
from experiments.gateway.redaction import redact
from experiments.gateway.request import prepare
from experiments.gateway.types import ChatRequest, Chunk, Completion, Deadlines

MAX_CONNECTIONS = 500
LINGER_SECONDS = 2.0
"""How long an answer whose finish reason has come may take to say its usage or [DONE]."""
DRAIN_SECONDS = 0.05
"""How long to wait for the end of the body after the end of the answer, so that the connection can be used again."""

_PLAIN = ("", "identity")
_ENCODINGS = (*_PLAIN, "gzip", "x-gzip", "deflate")
_OTHER_ENCODINGS = ("br", "zstd", "compress", "x-compress", "gzip, gzip", "deflate, gzip", "gzip, deflate")

T = TypeVar("T")

ERROR_BODY_BYTES = 64 << 10
ERROR_BODY_SECONDS = 10.0
CATALOGUE_DEADLINES = Deadlines(total=60.0)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.WriteError, httpx.WriteTimeout)
_NOT_SENDABLE = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeEncodeError)


class DeadlinePassed(Exception):
    """A deadline of ours, with what was waited for."""


class Pace:
    """Ends the wait for an answer that does not come in time. One timer serves a whole answer: progress only moves the
    deadline, and the timer looks at it when it fires. Use as a context manager.
    """

    def __init__(self, deadlines: Deadlines, *, streaming: bool) -> None:
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._deadlines = deadlines
        self._end = now + deadlines.total
        self._next = now + deadlines.first_byte if streaming else self._end
        self._pieces = 0
        self._lingers = False
        self._task: asyncio.Task[Any] | None = None  # the one that waits now
        self._cancelling = -1  # how often it had been cancelled when the timer cancelled it

    def __enter__(self) -> Self:
        self._timer: asyncio.Handle | None = self._loop.call_at(min(self._next, self._end), self._fire)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def observe(self, pieces: int, *, complete: bool) -> None:
        """Notes progress: only a new piece of content moves the deadline, keep-alives do not."""
        if pieces == self._pieces and complete == self._lingers:
            return
        self._next = self._loop.time() + (LINGER_SECONDS if complete else self._deadlines.progress)
        if complete != self._lingers and self._timer is not None:  # which would fire too late
            self._timer.cancel()
            self._fire()
        self._pieces, self._lingers = pieces, complete

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """The awaitable's result; raises DeadlinePassed."""
        if self._timer is None:  # the deadline has passed while something else was done: what is there is still taken
            self._timer = self._loop.call_soon(self._fire)
        self._task = task = asyncio.current_task()
        try:
            return await awaitable
        except asyncio.CancelledError as error:
            if self._cancelling < 0 or task is None or task.uncancel() > self._cancelling:
                raise
            raise DeadlinePassed(self._missed()) from error
        finally:
            self._task = None

    def _fire(self) -> None:
        due = min(self._next, self._end)
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._fire)
            return
        self._timer = None
        if self._task is not None:
            self._cancelling = self._task.cancelling()
            self._task.cancel()

    def _missed(self) -> str:
        if self._end <= self._next:
            return f"a complete answer within {self._deadlines.total:g} s"
        if not self._pieces:
            return f"first content within {self._deadlines.first_byte:g} s"
        return f"further content within {LINGER_SECONDS if self._lingers else self._deadlines.progress:g} s"


def body_of(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The body in the pieces in which it arrives. Raises BadAnswer for an encoding that is not understood.

    Encodings in a row are refused: each can unpack a thousandfold before a limit on bytes sees anything.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        named = f" as {encoding!r}" if encoding in _OTHER_ENCODINGS else ""  # any other word may be anything
        raise BadAnswer(f"The provider compressed its answer{named}, which was not asked for.")
    # Typed as iterators by httpx, but generators, which can be closed. The stream itself has fewer of them in a row.
    pieces = aiter(cast(httpx.AsyncByteStream, response.stream)) if encoding in _PLAIN else response.aiter_bytes()
    return cast(AsyncGenerator[bytes, None], pieces)


async def drain(body: AsyncGenerator[bytes, None]) -> None:
    """Reads what is left, if it comes at once: only a body read to its end leaves a connection to be used again."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in body:
                pass


async def read_head(response: httpx.Response, limit: int, seconds: float) -> bytes:
    """The beginning of a body, or what of it came in time without trouble: good enough for an error message."""
    head = b""
    with suppress(TimeoutError, httpx.HTTPError, BadAnswer):
        async with asyncio.timeout(seconds), aclosing(body_of(response)) as body:
            async for data in body:
                head += data[:limit]
                if len(head) >= limit:
                    break
    return head[:limit]


_READING_FAILED = (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError, DeadlinePassed)


# --- the client ---


def guarded_transport(
    *, allow_private: bool, max_connections: int = MAX_CONNECTIONS, keeps_connections: bool = True
) -> httpx.AsyncBaseTransport:
    """A transport to be shared by clients and closed by the caller. Raises ForbiddenAddress when connecting.

    aiohttp, which carries it, takes long to load: processes that ask no provider do not load it.
    """
    transport: httpx.AsyncBaseTransport = import_module("experiments.gateway.transport").GuardedTransport(
        allow_private=allow_private, max_connections=max_connections, keeps_connections=keeps_connections
    )
    return transport


class Client:
    """One provider with one key; safe for hundreds of calls at a time on one asyncio loop.

    base_url: up to and including `/v1`. api_key: empty for servers without keys. transport: shared by several clients
    and closed by its maker; without one the client makes its own, which refuses private addresses. headers: sent
    with every request, such as OpenRouter's `HTTP-Referer`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._base_url = base_url.strip().rstrip("/")
        self._api_key = api_key.strip()
        self._headers = dict(headers or {})
        self._owns_transport = transport is None
        self._http = httpx.AsyncClient(
            transport=transport or guarded_transport(allow_private=False), trust_env=False, follow_redirects=False
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk | Completion, None]:
        """Chunks as they arrive and, as the last item, the completion.

        Raises a GatewayError with what had arrived in `partial`. Closing the generator or cancelling the task closes
        the connection to the provider at once.
        """
        return self._ask(request, stream=True)

    async def complete(self, request: ChatRequest) -> Completion:
        """The same without streaming: only the connect and total deadlines apply, since nothing comes until the end."""
        completion = Completion()
        async with aclosing(self._ask(request, stream=False)) as items:
            async for item in items:
                if isinstance(item, Completion):
                    completion = item
        return completion

    async def models(self) -> list[dict[str, object]]:
        """The entries of GET {base}/models as the provider has them. Raises a GatewayError."""
        origin = self._origin("/models")
        return _model_entries(await self._fetched(origin), origin)

    async def check_key(self) -> None:
        """Asks OpenRouter about the key, as it lists its models without one. Raises a GatewayError."""
        await self._fetched(self._origin("/key"))

    async def fetch(self, path: str) -> Any:
        """The JSON of GET {base}path. Raises a GatewayError."""
        origin = self._origin(path)
        return _json(await self._fetched(origin), origin)

    async def download(self, path: str, deadlines: Deadlines) -> bytes:
        """The body of GET {base}path. Raises a GatewayError."""
        return await self._fetched(self._origin(path), deadlines=deadlines)

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The JSON that answers POST {base}path with a JSON body. Raises a GatewayError."""
        origin = self._origin(path)
        return _json(await self._fetched(origin, method="POST", json=body), origin)

    async def upload(self, path: str, fields: Mapping[str, str], content: bytes, deadlines: Deadlines) -> Any:
        """The JSON that answers POST {base}path with a form that has these fields and one `file`. Raises a
        GatewayError.
        """
        origin = self._origin(path)
        form = {"data": fields, "files": {"file": ("requests.jsonl", content, "application/jsonl")}}
        return _json(await self._fetched(origin, method="POST", deadlines=deadlines, **form), origin)

    async def _fetched(
        self, origin: Origin, *, method: str = "GET", deadlines: Deadlines = CATALOGUE_DEADLINES, **sent: Any
    ) -> bytes:
        """sent: as httpx takes a body."""
        content = bytearray()
        try:
            request = self._request(method, origin, {}, deadlines, **sent)
            with Pace(deadlines, streaming=False) as pace:
                async with self._send(request, origin, pace) as response, aclosing(body_of(response)) as body:
                    while data := await pace.wait(anext(body, b"")):
                        content += data
                        if len(content) > deadlines.total_bytes:
                            raise BadAnswer(f"{tried(origin)} gave an answer that is too large.")
        except _READING_FAILED as error:
            raise self._translate(error, origin) from error
        return bytes(content)

    def redacted(self, text: str) -> str:
        """The text without the client's key."""
        return redact(text, self._api_key)

    async def aclose(self) -> None:
        """Closes the client's own connections; a transport that was handed in stays open."""
        if self._owns_transport:
            await self._http.aclose()

    async def _ask(self, request: ChatRequest, *, stream: bool) -> AsyncGenerator[Chunk | Completion, None]:
        prepared = prepare(request, stream=stream)
        origin = self._origin("/chat/completions", request.model)
        answer = Answer(request, origin, prepared.warnings)
        failure: GatewayError | None = None
        try:
            content = json.dumps(prepared.body, sort_keys=True).encode()  # so that a stored body gives the same bytes
            post = self._request("POST", origin, prepared.headers, request.deadlines, content=content)
            with Pace(request.deadlines, streaming=stream) as pace:
                async with self._send(post, origin, pace) as response, aclosing(body_of(response)) as body:
                    answer.name_generation(response.headers.get("x-generation-id", ""))
                    while not answer.stopped and (data := await pace.wait(anext(body, b""))):
                        for chunk in answer.feed(data):
                            yield chunk
                        pace.observe(answer.pieces, complete=answer.complete)
                    if answer.complete:
                        await drain(body)
        except _READING_FAILED as error:
            failure = self._translate(error, origin)
        for chunk in answer.finish():
            yield chunk
        yield answer.result(failure)

    def _request(
        self,
        method: str,
        origin: Origin,
        headers: Mapping[str, str],
        deadlines: Deadlines,
        **sent: Any,
    ) -> httpx.Request:
        """sent: as httpx takes a body."""
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise BadKey("The provider key has characters that no key has: enter it again.")
        authorization = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        everything = {"User-Agent": "arena-lab", **self._headers, **headers, **authorization}
        timeout = httpx.Timeout(
            connect=deadlines.connect, read=None, write=deadlines.progress, pool=deadlines.first_byte
        )
        return self._http.build_request(method, origin.url, headers=everything, timeout=timeout, **sent)

    @asynccontextmanager
    async def _send(self, request: httpx.Request, origin: Origin, pace: Pace) -> AsyncIterator[httpx.Response]:
        """A successful response. Its connection is closed or given back when the with-statement ends."""
        response = await pace.wait(self._http.send(request, stream=True))
        try:
            if not response.is_success:
                head = await read_head(response, ERROR_BODY_BYTES, ERROR_BODY_SECONDS)
                raise classify(response.status_code, response.headers, head, now=datetime.now(UTC), origin=origin)
            yield response
        finally:
            await response.aclose()

    def _origin(self, path: str, model: str = "") -> Origin:
        return Origin(url=self._base_url + path, model=model, api_key=self._api_key)

    def _translate(self, error: Exception, origin: Origin) -> GatewayError:
        """The one place where httpx's errors become ours."""
        what, words = tried(origin), excerpt(str(error) or type(error).__name__, self._api_key)
        if isinstance(error, DeadlinePassed):
            return OutcomeUnknown(f"{what} brought no {words}; whether it was billed is not known.")
        if isinstance(error, _NOT_SENT):
            return Unreachable(
                f"{what} failed before the request was sent: {words}. Check the base URL and the network."
            )
        if isinstance(error, _NOT_SENDABLE):
            return Refused(f"{what} is not possible: {words}. Check the base URL and the extra headers.")
        if isinstance(error, httpx.DecodingError):
            return BadAnswer(f"{what} gave an answer that cannot be unpacked: {words}.")
        return OutcomeUnknown(f"{what} broke off before the answer was complete: {words}.")


def _json(content: bytes, origin: Origin) -> Any:
    """Raises BadAnswer."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"{tried(origin)} gave something that is no JSON.") from error


def _model_entries(body: bytes, origin: Origin) -> list[dict[str, Any]]:
    text = redact(body.decode("utf-8", "replace"), origin.api_key)
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        payload = None
    if isinstance(payload, dict):
        payload = payload.get("data", payload.get("models"))
    if not isinstance(payload, list):
        raise BadAnswer(f"{tried(origin)} gave no list of models: “{excerpt(readable(text), origin.api_key)}”.")
    return [entry for entry in payload if isinstance(entry, dict)]
