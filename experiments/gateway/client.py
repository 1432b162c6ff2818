"""Asks a model: HTTP to an OpenAI-compatible provider, and nothing that could be known without HTTP."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx

from experiments.gateway.addresses import guarded_transport
from experiments.gateway.answer import Answer
from experiments.gateway.classify import Origin, classify, excerpt, readable, tried
from experiments.gateway.errors import BadAnswer, BadKey, GatewayError, OutcomeUnknown, Refused, Unreachable
from experiments.gateway.reading import DeadlinePassed, Pace, body_of, drain, next_of, read_head
from experiments.gateway.redaction import redact
from experiments.gateway.request import prepare
from experiments.gateway.types import ChatRequest, Chunk, Completion, Deadlines

ERROR_BODY_BYTES = 64 << 10
ERROR_BODY_SECONDS = 10.0
CATALOGUE_DEADLINES = Deadlines(total=60.0)

_READING_FAILED = (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError, DeadlinePassed)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.WriteError, httpx.WriteTimeout)
_NOT_SENDABLE = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeEncodeError)


class Client:
    """One provider with one key; safe for hundreds of calls at a time on one asyncio loop.

    base_url: up to and including `/v1`. api_key: empty for servers without keys. transport: shared by several clients
    and closed by whoever made it; without one the client makes its own, which refuses private addresses. headers: sent
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

    async def models(self) -> list[dict[str, Any]]:
        """The entries of GET {base}/models as the provider has them. Raises a GatewayError."""
        origin = self._origin("/models")
        pace = Pace(CATALOGUE_DEADLINES, streaming=False)
        content = b""
        try:
            request = self._request("GET", origin, {}, CATALOGUE_DEADLINES)
            async with self._send(request, origin, pace) as response, aclosing(body_of(response)) as body:
                while (data := await pace.wait(next_of(body))) is not None:
                    content += data
                    if len(content) > CATALOGUE_DEADLINES.total_bytes:
                        raise BadAnswer(f"{tried(origin)} gave a list of models that is too large.")
        except _READING_FAILED as error:
            raise self._translate(error, origin) from error
        return _model_entries(content, origin)

    async def aclose(self) -> None:
        """Closes the client's own connections; a transport that was handed in stays open."""
        if self._owns_transport:
            await self._http.aclose()

    async def _ask(self, request: ChatRequest, *, stream: bool) -> AsyncGenerator[Chunk | Completion, None]:
        prepared = prepare(request, stream=stream)
        origin = self._origin("/chat/completions", request.model)
        answer = Answer(request, origin, prepared.warnings)
        pace = Pace(request.deadlines, streaming=stream)
        failure: GatewayError | None = None
        try:
            content = json.dumps(prepared.body, sort_keys=True).encode()  # so that a stored body gives the same bytes
            post = self._request("POST", origin, prepared.headers, request.deadlines, content=content)
            async with self._send(post, origin, pace) as response, aclosing(body_of(response)) as body:
                answer.name_generation(response.headers.get("x-generation-id", ""))
                while not answer.stopped and (data := await pace.wait(next_of(body))) is not None:
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
        *,
        content: bytes | None = None,
    ) -> httpx.Request:
        timeout = httpx.Timeout(
            connect=deadlines.connect, read=None, write=deadlines.progress, pool=deadlines.first_byte
        )
        return self._http.build_request(
            method, origin.url, content=content, headers=self._all_headers(headers), timeout=timeout
        )

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

    def _all_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise BadKey("The provider key has characters that no key has: enter it again.")
        authorization = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
        return {"User-Agent": "arena-lab", **self._headers, **headers, **authorization}

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
