"""Bytes of a provider's 200 become chunks and a completion, or the error that they amount to. No network here."""

import json
from dataclasses import replace
from typing import Any

from experiments.gateway.assembly import Assembly
from experiments.gateway.chunks import Delta, parse_chunk
from experiments.gateway.classify import ErrorBody, Origin, classify_event, excerpt, read_error, readable, tried
from experiments.gateway.errors import (
    BadAnswer,
    EmptyAnswer,
    GatewayError,
    Interrupted,
    NeedsPerson,
    OutcomeUnknown,
    ToolCall,
)
from experiments.gateway.sse import Event, Parser
from experiments.gateway.types import ChatRequest, Chunk, Completion

_LEADING = b" \t\r\n\xef\xbb\xbf"
_HEAD_BYTES = 2048
_BROKEN = object()  # in place of a value: what came is no JSON


class Answer:
    """One answer, as an event stream or as one JSON body: the first character tells which, not the content type.

    Feed bytes while not `stopped`, then call `finish()` and `result()`. The outcome does not depend on how the bytes
    are split, except for the excerpts in messages.
    """

    def __init__(self, request: ChatRequest, origin: Origin, warnings: tuple[str, ...] = ()) -> None:
        self._limits = request.deadlines
        self._origin = origin
        self._assembly = Assembly(request, warnings, api_key=origin.api_key)
        self._parser = Parser(request.deadlines.event_bytes)
        self._bytes = 0
        self._chars = 0
        self._head = b""
        self._body: list[bytes] | None = None
        self._sniffed = False
        self._done = False
        self._terminal = False
        self._at_end = False
        self._is_end_broken = False
        self._error: GatewayError | None = None

    @property
    def pieces(self) -> int:
        """Grows with every piece of content: what the progress deadline looks at. 0 before the first."""
        return self._assembly.pieces

    @property
    def complete(self) -> bool:
        """Nothing of the text is missing; usage may still follow."""
        return self._done or bool(self._assembly.finish)

    @property
    def stopped(self) -> bool:
        """Nothing that is still to come can matter."""
        return self._done or self._terminal or self._error is not None

    def name_generation(self, generation_id: str) -> None:
        self._assembly.name_generation(generation_id)

    def feed(self, data: bytes) -> list[Chunk]:
        limit = self._limits.total_bytes
        within = data[: limit - self._bytes]
        self._bytes += len(within)
        chunks = self._take(within)
        if len(within) < len(data) and not self.stopped:
            self._fail(BadAnswer(f"{self._tried} gave more than {limit} bytes; stopped reading."))
        return chunks

    def _take(self, data: bytes) -> list[Chunk]:
        if len(self._head) < _HEAD_BYTES:
            self._head += data[:_HEAD_BYTES]
        if not self._sniffed:
            data = data.lstrip(_LEADING)
            if not data:
                return []
            self._sniffed = True
            self._body = [] if data.startswith(b"{") else None
        if self._body is not None:
            self._body.append(data)
            return []
        return self._take_events(self._parser.feed(data))

    def finish(self) -> list[Chunk]:
        """Nothing more will be read. What was held back comes out."""
        chunks: list[Chunk] = []
        if not self.stopped:
            self._at_end = True
            chunks = self._take_body(self._body) if self._body is not None else self._take_events(self._parser.close())
        last = self._assembly.flush()
        return [*chunks, last] if last else chunks

    def result(self, failure: GatewayError | None = None) -> Completion:
        """The completion. Raises a GatewayError with what had arrived in `partial`.

        failure: how reading ended, unless it ended properly; it counts only for an answer that is not complete.
        """
        error = self._error or (None if self.complete else self._unfinished(failure))
        if error is None and (failure or self._is_end_broken):
            self._assembly.warn("the stream did not end properly after the finish reason: the text is whole")
        completion = self._assembly.completion()
        if error is None and not (completion.text.strip() or _declined(completion)):
            raise self._empty(completion)
        if error is not None:
            arrived = completion.text or completion.reasoning or completion.refusal
            error.partial = completion if arrived else None
            raise error
        return completion

    @property
    def _tried(self) -> str:
        return tried(self._origin)

    def _take_events(self, events: list[Event]) -> list[Chunk]:
        chunks: list[Chunk] = []
        for event in events:
            if self.stopped:
                return chunks
            if event.data and (chunk := self._take_event(event)):
                chunks.append(chunk)
        if self._parser.overflowed and not self.stopped:
            limit = self._limits.event_bytes
            self._fail(BadAnswer(f"{self._tried} gave an event of more than {limit} bytes; stopped reading."))
        return chunks

    def _take_event(self, event: Event) -> Chunk | None:
        if event.data.strip() == "[DONE]":
            self._done = True
            return None
        payload = _decoded(event.data)
        if event.name == "error":
            self._fail_with(read_error(payload, whole=True) or ErrorBody(event.data))
        elif error := read_error(payload):
            self._fail_with(error)
        elif isinstance(payload, dict):
            return self._take_chunk(payload)
        elif payload is not _BROKEN and not payload:  # null or []: it carries nothing
            return None
        elif self._at_end or self.complete:  # an event cut off by the end, or rubbish behind a whole answer
            self._is_end_broken = True
        else:
            self._fail(self._malformed("an event that is no JSON object", event.data))
        return None

    def _take_chunk(self, payload: dict[str, Any]) -> Chunk | None:
        delta, before = self._within(parse_chunk(payload)), self.pieces
        chunk = self._assembly.take(delta)
        if delta.finish == "error":
            self._fail_with(ErrorBody("the model stopped with finish reason “error”"))
        # A chunk that brings text together with finish reason and usage may be one of many such (Gemini).
        self._terminal = self._assembly.usage_at_end and self.complete and self.pieces == before
        return chunk

    def _within(self, delta: Delta) -> Delta:
        """As much of it as may still be kept: packed, a megabyte can be a gigabyte of one letter."""
        limit, before = self._limits.total_chars, self._chars
        self._chars += len(delta.text) + len(delta.reasoning) + len(delta.refusal)
        if self._chars <= limit:
            return delta
        self._fail(BadAnswer(f"{self._tried} gave more than {limit} characters; stopped reading."))
        reasoning = delta.reasoning[: limit - before]
        text = delta.text[: limit - before - len(reasoning)]
        return replace(delta, reasoning=reasoning, text=text, refusal="", finish="", logprobs=())

    def _take_body(self, body: list[bytes]) -> list[Chunk]:
        text = b"".join(body).decode("utf-8", "replace")
        payload = _decoded(text)
        if error := read_error(payload, whole=True):
            self._fail_with(error)
        elif isinstance(payload, dict) and isinstance(payload.get("choices"), list) and payload["choices"]:
            self._done = True
            chunk = self._take_chunk(payload)
            return [chunk] if chunk else []
        elif payload is not _BROKEN:
            self._fail(self._malformed("JSON that is no chat completion", text))
        return []

    def _unfinished(self, failure: GatewayError | None) -> GatewayError:
        if self.pieces:
            why = str(failure) if failure else f"{self._tried} gave a stream that ended without a finish reason."
            return Interrupted(f"{why} What had arrived is kept.", status=failure.status if failure else None)
        if failure is not None:
            return failure
        if self._body is not None or self._parser.strange:
            head = readable(self._head.decode("utf-8", "replace"))
            return self._malformed("something that is neither an event stream nor JSON", head)
        return OutcomeUnknown(f"{self._tried} gave an empty stream: whether it was billed is not known.")

    def _empty(self, completion: Completion) -> GatewayError:
        if self._assembly.tool or completion.finish_reason == "tool_calls":
            called = f"called the tool “{self._assembly.tool or 'unnamed'}” instead of answering"
            advice = "No tool was offered: change the prompt or choose another model."
            return ToolCall(f"{self._tried}: the model {called}. {advice}", partial=completion)
        return EmptyAnswer(f"{self._tried} gave {_describe_empty(completion)}.", partial=completion)

    def _fail_with(self, body: ErrorBody) -> None:
        error = classify_event(body, origin=self._origin)
        if self.pieces and not isinstance(error, NeedsPerson):
            message = f"{error} What had arrived is kept."
            error = Interrupted(message, status=error.status, retry_after=error.retry_after)
        self._fail(error)

    def _fail(self, error: GatewayError) -> None:
        self._error = self._error or error

    def _malformed(self, what: str, text: str) -> BadAnswer:
        words = excerpt(text, self._origin.api_key)
        return BadAnswer(f"{self._tried} gave {what}: “{words}”. Check that the base URL is an OpenAI-compatible API.")


def _decoded(text: str) -> object:
    """The JSON value, or _BROKEN."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN


def _declined(completion: Completion) -> bool:
    """A refusal is an answer: it has a reason of its own, and asking again would be asking the same."""
    return bool(completion.refusal) or completion.finish_reason == "content_filter"


def _describe_empty(completion: Completion) -> str:
    what = "reasoning but no answer" if completion.reasoning else "an empty answer"
    return f"{what}, cut off at the token limit" if completion.finish_reason == "length" else what
