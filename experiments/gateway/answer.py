"""Bytes of a provider's 200 become chunks as they come, and one completion or error at the end. No network here."""

import json
import sys
from collections.abc import Iterator

from pydantic_core import from_json

from experiments.gateway.errors import (
    BadAnswer,
    EmptyAnswer,
    GatewayError,
    Interrupted,
    NeedsPerson,
    Origin,
    OutcomeUnknown,
    ToolCall,
    classify_event,
    excerpt,
    readable,
    tried,
)
from experiments.gateway.reasoning import AnswerSplitter, Merged
from experiments.gateway.redaction import Cleaner, Redactor, clean, redact
from experiments.gateway.streaming import (
    Delta,
    ErrorBody,
    Event,
    EventPattern,
    Parser,
    normal_finish,
    parse_chunk,
    read_error,
)
from experiments.gateway.types import ChatRequest, Chunk, Completion, FinishReason, TokenLogprob, Usage
from experiments.gateway.usage import prompt_was_cut, settle_usage

_LEADING = b" \t\r\n\xef\xbb\xbf"
_HEAD_BYTES = 2048
_BROKEN = object()  # in place of a value: what came is no JSON

_NAMED = ("model", "provider", "id", "fingerprint")


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
        self._pattern = EventPattern()
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
        # A refusal is an answer: it has a reason of its own, and asking again would be asking the same.
        is_declined = bool(completion.refusal) or completion.finish_reason == "content_filter"
        if error is None and not (completion.text.strip() or is_declined):
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
        for one in self._joined(events):
            if self.stopped:
                return chunks
            if chunk := self._take_delta(one) if isinstance(one, Delta) else self._take_event(one):
                chunks.append(chunk)
        if self._parser.overflowed and not self.stopped:
            limit = self._limits.event_bytes
            self._fail(BadAnswer(f"{self._tried} gave an event of more than {limit} bytes; stopped reading."))
        return chunks

    def _joined(self, events: list[Event]) -> Iterator[Event | Delta]:
        """The events that have data; of those in a row that bring text and nothing else, what they add together."""
        text = ""
        for event in events:
            if more := "" if event.name else self._pattern.read(event.data):
                text += more
                continue
            if text:
                yield self._pattern.delta(text)
                text = ""
            if event.data:
                yield event
        if text:
            yield self._pattern.delta(text)

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
            delta = parse_chunk(payload)
            self._pattern.learn(event.data, delta)
            return self._take_delta(delta)
        elif payload is not _BROKEN and not payload:  # null or []: it carries nothing
            return None
        elif self._at_end or self.complete:  # an event cut off by the end, or rubbish behind a whole answer
            self._is_end_broken = True
        else:
            self._fail(self._malformed("an event that is no JSON object", event.data))
        return None

    def _take_delta(self, delta: Delta) -> Chunk | None:
        delta, before = self._within(delta), self.pieces
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
        return delta._replace(reasoning=reasoning, text=text, refusal="", finish="", logprobs=())

    def _take_body(self, body: list[bytes]) -> list[Chunk]:
        text = b"".join(body).decode("utf-8", "replace")
        payload = _decoded(text)
        if error := read_error(payload, whole=True):
            self._fail_with(error)
        elif isinstance(payload, dict) and isinstance(payload.get("choices"), list) and payload["choices"]:
            self._done = True
            chunk = self._take_delta(parse_chunk(payload))
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
        what = "reasoning but no answer" if completion.reasoning else "an empty answer"
        why = ", cut off at the token limit" if completion.finish_reason == "length" else ""
        return EmptyAnswer(f"{self._tried} gave {what}{why}.", partial=completion)

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
        return from_json(text)
    except ValueError:  # perhaps half of a surrogate pair, with the other one in the next event
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return _BROKEN


class Assembly:
    """Everything that has arrived of one answer.

    pieces: grows with every delta that has content. tool: the first that the model calls. usage: the last report, as
    reports are cumulative. finish: the provider's word, empty before it came. usage_at_end: usage came with or after
    the finish reason. api_key: what the provider was asked with, and does not come to light wherever it is repeated.
    """

    def __init__(self, request: ChatRequest, warnings: tuple[str, ...] = (), *, api_key: str = "") -> None:
        accepts = request.capabilities
        self._request = request
        self._warnings = list(warnings)
        self._splitter = AnswerSplitter(opened=accepts.reasoning_opened) if accepts.reasoning_tags else None
        self._merged = Merged()
        self._api_key = api_key
        self._clean_text, self._clean_reasoning = Cleaner(), Cleaner()
        self._redact_text, self._redact_reasoning = Redactor(api_key), Redactor(api_key)
        self._lead = ""  # of the answer, as long as it is nothing but white space
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._named = dict.fromkeys(_NAMED, "")
        self._newest = dict.fromkeys(_NAMED, "")  # the same as the provider says it, again and again
        self._native_finish = ""
        self.tool = ""
        self.finish = ""
        self.usage: Usage | None = None
        self.usage_at_end = False
        self.pieces = 0

    def name_generation(self, generation_id: str) -> None:
        """The id out of a header; one in the answer itself replaces it."""
        self._named["id"] = self._named_as(generation_id)

    def warn(self, remark: str) -> None:
        self._warnings.append(remark)

    def take(self, delta: Delta) -> Chunk | None:
        """What of the delta can be shown now."""
        if delta.text or delta.reasoning or delta.refusal or delta.tool:
            self.pieces += 1
            self._refusal.append(delta.refusal)
        self._note(delta)
        text = self._redact_text.feed(self._clean_text.feed(delta.text))
        return self._chunk(text, self._redact_reasoning.feed(self._clean_reasoning.feed(delta.reasoning)))

    def flush(self) -> Chunk | None:
        """What was held back until it was certain that nothing follows. Call once, at the end."""
        text = self._redact_text.feed(self._clean_text.close()) + self._redact_text.close()
        reasoning = self._redact_reasoning.feed(self._clean_reasoning.close()) + self._redact_reasoning.close()
        chunk = self._chunk(text, reasoning, last=True)
        if self._is_repeated:
            self._warnings.append("the provider repeated the key that it was asked with: it was taken out")
        if self._splitter is not None and self._splitter.unclosed and (self._text or self._reasoning):
            self._warnings.append("the thinking was never closed: everything after its tag is kept as reasoning")
        return chunk

    def completion(self) -> Completion:
        """All of it as a value; also for an answer that broke off. Usage is estimated where none can be believed."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        refusal = self._named_as("".join(self._refusal))
        usage, doubt = settle_usage(self.usage, self._request, text + reasoning + refusal)
        finish = self._finish_reason(usage)
        cut = prompt_was_cut(self._request, usage)
        return Completion(
            text=text,
            reasoning=reasoning,
            finish_reason=finish,
            native_finish_reason=self._named_as(self._native_finish or self.finish),
            refusal=refusal,
            usage=usage,
            logprobs=None if self._is_repeated else tuple(self._logprobs) or None,
            logprobs_missing=self._request.params.top_logprobs is not None and not self._logprobs,
            served_model=self._named["model"],
            served_provider=self._named["provider"],
            generation_id=self._named["id"],
            system_fingerprint=self._named["fingerprint"],
            truncated_prompt=cut,
            warnings=(*self._warnings, *self._remarks(doubt, finish, cut=cut)),
        )

    def _note(self, delta: Delta) -> None:
        if delta.tool and not self.tool:
            self.tool = self._named_as(delta.tool)[:80]
        if delta.logprobs:
            self._logprobs.extend(delta.logprobs)
        if delta.finish:
            self.finish = delta.finish
            self._native_finish = delta.native_finish
        if delta.usage is not None:
            self.usage = delta.usage
            self.usage_at_end = bool(self.finish)
        for name in _NAMED:
            if (value := getattr(delta, name)) and value != self._newest[name]:
                self._newest[name], self._named[name] = value, self._named_as(value)

    def _named_as(self, text: str) -> str:
        return redact(clean(text), self._api_key)

    @property
    def _is_repeated(self) -> bool:
        """Whether the key stood in the answer. Its tokens, one by one, would spell it."""
        return self._redact_text.found or self._redact_reasoning.found

    def _chunk(self, text: str, native: str, *, last: bool = False) -> Chunk | None:
        reasoning = self._merged.add("native", native) if native else ""
        if self._splitter is not None and (text or last):
            text, tagged = self._split(self._splitter, text, last=last)
            reasoning += tagged
        if reasoning:
            self._reasoning.append(reasoning)
        if text := self._without_lead(text, last=last):
            self._text.append(text)
        return Chunk(text, reasoning) if text or reasoning else None

    def _without_lead(self, text: str, *, last: bool) -> str:
        """Blank lines between the reasoning and the answer are no part of either."""
        if self._text:
            return text
        self._lead += text
        if not (self._lead.strip() or last):
            return ""
        text, self._lead = self._lead, ""
        return text.lstrip() if self._reasoning else text

    def _split(self, splitter: AnswerSplitter, content: str, *, last: bool) -> tuple[str, str]:
        text, reasoning = "", ""
        for piece in splitter.feed(content) + (splitter.close() if last else []):
            if piece.kind == "text":
                text += piece.text
            elif piece.kind == "reasoning":
                reasoning += self._merged.add("tags", piece.text)
        return text, reasoning

    def _finish_reason(self, usage: Usage) -> FinishReason | None:
        finish = normal_finish(self.finish)
        asked, most = self._request.params.max_tokens, self._request.capabilities.max_output_tokens
        limit = min(asked or sys.maxsize, most or sys.maxsize)
        at_limit = not usage.estimated and usage.output_tokens >= limit
        return "length" if finish == "stop" and at_limit else finish

    def _remarks(self, doubt: str, finish: FinishReason | None, *, cut: bool) -> list[str]:
        asked, served = _plain_name(self._request.model), _plain_name(self._named["model"])
        remarks = {
            "the provider gave no finish reason": not self.finish,
            f"unknown finish reason {self._named_as(self.finish)[:50]!r}": bool(self.finish) and finish is None,
            "the provider says stop, but the token limit was reached": finish != normal_finish(self.finish),
            doubt: bool(doubt),
            "the provider seems to have cut the prompt": cut,
            f"answered by {self._named['model']}": bool(served) and asked not in served and served not in asked,
        }
        return [remark for remark, applies in remarks.items() if applies]


def _plain_name(model: str) -> str:
    """A model's name without publisher and variant, as far as names of the same model commonly differ."""
    return model.rpartition("/")[2].partition(":")[0].casefold()
