"""Bytes of an event stream become events, and the JSON of each event a delta or an error. Pure: any split gives the
same events.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from experiments.gateway.redaction import clean
from experiments.gateway.types import FinishReason, TokenAlternative, TokenLogprob, Usage
from experiments.gateway.usage import parse_usage

BOM = b"\xef\xbb\xbf"

_NO_FIELDS: Mapping[str, Any] = {}
# Finish reasons as providers name them, in lower case. The provider's own name is kept beside ours.
_FINISH_WORDS: dict[str, FinishReason] = {
    **dict.fromkeys(("stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_length", "model_length"), "length"),
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal", "sensitive"),
        "content_filter",
    ),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
}
LEAST_LOGPROB = -9999.0
"""Stands for minus infinity, as at OpenAI: a database's JSON has no infinity."""

_MOST_LEARNED = 8  # patterns in a row that fit no later event: then each event of the stream is parsed

# --- server-sent events ---


class Event(NamedTuple):
    """One dispatched event. No data means a sign of life: a comment line or an empty `data:` frame."""

    data: str = ""
    name: str = ""


KEEP_ALIVE = Event()
_WHOLE_EVENTS = re.compile(rb"(?:data: [^\r\n]+\n\n)+")  # as most servers write them, one or some in a piece


class Parser:
    """Server-sent events as the WHATWG specification has them, and as servers really write them.

    Beyond the specification: a comment is reported as a keep-alive at once, `error: …` as a field name becomes an event
    named `error` (llama.cpp), and `close()` dispatches what no blank line ended. Lines end with CR, LF or CRLF only:
    `str.splitlines` would also split at U+2028, U+2029 and U+0085, which are legal inside JSON.

    limit_bytes: the largest event. When it is exceeded `overflowed` becomes true and everything later is ignored; the
    events before it are still returned. `strange`: a line that is no field was seen, so this may be no event stream.
    """

    def __init__(self, limit_bytes: int = 1 << 20) -> None:
        self._limit = limit_bytes
        self._tail = bytearray()
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._name = ""
        self._first_line = True
        self._after_cr = False
        self._events: list[Event] = []
        self.overflowed = False
        self.strange = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Takes the next bytes, of any length, and returns the events that they complete."""
        is_between = not (self._tail or self._data or self._name or self._after_cr or self.overflowed)
        if is_between and len(chunk) <= self._limit and _WHOLE_EVENTS.fullmatch(chunk):
            self._first_line = False
            return [Event(data.decode("utf-8", "replace")) for data in chunk[6:-2].split(b"\n\ndata: ")]
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        for line in chunk.splitlines(keepends=True):
            if self.overflowed:
                break
            self._take(line)
        self._after_cr = self._after_cr or chunk.endswith(b"\r")
        return self._drain()

    def close(self) -> list[Event]:
        """The events that the end of the stream completes."""
        if not self.overflowed:
            self._take(b"\n")
            self._dispatch()
        return self._drain()

    def _take(self, line: bytes) -> None:
        self._tail += line
        if self._data_bytes + len(self._tail) > self._limit:
            self.overflowed = True
            self._tail.clear()
        elif line.endswith((b"\n", b"\r")):
            whole = bytes(self._tail).rstrip(b"\r\n")
            self._tail.clear()
            self._line(whole)

    def _line(self, line: bytes) -> None:
        if self._first_line:
            line = line.removeprefix(BOM)
            self._first_line = False
        if not line:
            self._dispatch()
        elif line.startswith(b":"):
            self._events.append(KEEP_ALIVE)
        else:
            self._field(line)

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field in (b"data", b"error"):
            self._data.append(value)
            self._data_bytes += len(value) + 1
        if field == b"error":
            self._name = "error"
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field not in (b"data", b"id", b"retry"):
            self.strange = True

    def _dispatch(self) -> None:
        if self._data:
            data = b"\n".join(self._data).decode("utf-8", "replace")
            self._events.append(Event(data, self._name) if data else KEEP_ALIVE)
            self._data = []
            self._data_bytes = 0
        self._name = ""

    def _drain(self) -> list[Event]:
        events, self._events = self._events, []
        return events


# --- what one decoded `chat.completion.chunk`, or a whole `chat.completion`, adds ---


class Delta(NamedTuple):
    """What one chunk adds. finish: the provider's own word, empty while the answer goes on. tool: the name of a tool
    that the model calls; a dash where a call has none.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool: str = ""
    finish: str = ""
    native_finish: str = ""
    usage: Usage | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    model: str = ""
    provider: str = ""
    id: str = ""
    fingerprint: str = ""


def parse_chunk(raw: Mapping[str, Any]) -> Delta:
    """Reads whatever is there and of the right type; anything else counts as absent. Errors: see `read_error`."""
    choice = _first_choice(raw.get("choices"))
    message = choice.get("delta") if "delta" in choice else choice.get("message")
    if not isinstance(message, dict):
        message = _NO_FIELDS
    text, part_reasoning = _content(message.get("content"))
    if not text and not message.get("content"):
        text = _said(choice.get("text"))  # as in answers of the older completions
    return Delta(
        text=text,
        reasoning=_reasoning(message) or part_reasoning,
        refusal=_text(message.get("refusal")),
        tool=_tool(message),
        finish=_text(choice.get("finish_reason")),
        native_finish=_text(choice.get("native_finish_reason")),
        usage=_usage(raw, choice),
        logprobs=parse_logprobs(choice.get("logprobs")),
        model=_text(raw.get("model")),
        provider=_text(raw.get("provider")),
        id=_text(raw.get("id")),
        fingerprint=_text(raw.get("system_fingerprint")),
    )


class EventPattern:
    """What surrounds the text of an event. Most events of a stream differ in their text alone: it is read out of them
    without parsing JSON.

    The pattern is learned from one event and tried: with another text in its place, the event has to be parsed to the
    same delta but for that text.
    """

    def __init__(self) -> None:
        self._head = self._tail = ""
        self._name = "text"
        self._left = _MOST_LEARNED

    def read(self, data: str) -> str:
        """The text that the event adds; empty where it has to be parsed."""
        head, tail = self._head, self._tail
        if not (head and data.startswith(head) and data.endswith(tail)):
            return ""
        text = data[len(head) : -len(tail)]
        if not text.isprintable() or '"' in text or "\\" in text:
            try:
                text = json.loads(f'"{text}"')
            except ValueError:
                return ""
        self._left = _MOST_LEARNED
        return text

    def delta(self, text: str) -> Delta:
        """What events with this text add."""
        return Delta(text) if self._name == "text" else Delta(reasoning=text)

    def learn(self, data: str, delta: Delta) -> None:
        """From an event that was parsed to this delta: those that follow are compared with it."""
        self._head = self._tail = ""
        self._name = "text" if delta.text else "reasoning"
        text = delta.text or delta.reasoning
        head, found, tail = data.partition(f'"{text}"')
        adds_more = (delta.text and delta.reasoning) or delta.refusal or delta.tool or delta.finish
        if adds_more or delta.usage or delta.logprobs or not (text and found and self._left):
            return
        self._left -= 1
        other = f"{text}~"
        expected = delta._replace(text=other) if delta.text else delta._replace(reasoning=other)
        if parse_chunk(json.loads(f'{head}"{other}"{tail}')) == expected:
            self._head, self._tail = f'{head}"', f'"{tail}'


def normal_finish(word: str) -> FinishReason | None:
    """The common word for a provider's finish reason; None for one that is not known."""
    return _FINISH_WORDS.get(word.strip().lower())


def _first_choice(choices: object) -> Mapping[str, Any]:
    """Choice 0. More are never asked for; a server that sends them anyway must not have them mixed into one text."""
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                return choice
    return _NO_FIELDS


def _content(content: object) -> tuple[str, str]:
    """Text and reasoning of a content that is a string, a number or a list of parts."""
    if not isinstance(content, list):
        return _said(content), ""
    text, reasoning = "", ""
    for part in content:
        text += _said(part.get("text") if isinstance(part, dict) else part)
        if isinstance(part, dict):
            reasoning += _content(part.get("thinking"))[0]
    return text, reasoning


def _reasoning(message: Mapping[str, Any]) -> str:
    """The first field that has something: the others, where present, repeat it."""
    for name in ("reasoning_content", "reasoning", "reasoning_details", "thinking"):
        value = message.get(name)
        if value and (found := value if isinstance(value, str) else _details(value)):
            return found
    return ""


def _details(value: object) -> str:
    """OpenRouter's list of details; an encrypted one has neither text nor summary and gives nothing."""
    details = (detail for detail in value if isinstance(detail, dict)) if isinstance(value, list) else ()
    return "".join(_text(detail.get("text")) or _text(detail.get("summary")) for detail in details)


def _usage(raw: Mapping[str, Any], choice: Mapping[str, Any]) -> Usage | None:
    """At the top level; in the choice at Moonshot; under `x_groq` at Groq; as `timings` at llama.cpp."""
    groq = raw.get("x_groq")
    for found in (raw.get("usage"), choice.get("usage"), groq.get("usage") if isinstance(groq, dict) else None):
        if isinstance(found, dict) and found:
            return parse_usage(found)
    timings = raw.get("timings")
    if isinstance(timings, dict):  # its prompt_n leaves out what was in the cache
        names = {"input_tokens": "prompt_n", "cache_read_input_tokens": "cache_n", "output_tokens": "predicted_n"}
        return parse_usage({name: timings.get(theirs) for name, theirs in names.items()})
    return None


def _tool(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, dict) else message.get("function_call")
    named = _text(function.get("name")) if isinstance(function, dict) else ""
    return named or ("-" if call or function else "")


def _said(value: object) -> str:
    """A text; some servers send a token that is a number as a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return json.dumps(value) if is_number else _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# --- errors inside of an answer ---


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """An error object of whatever shape. code: the provider's own word or number as text, with the type behind it."""

    message: str
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def read_error(payload: object, *, whole: bool = False) -> ErrorBody | None:
    """Finds the error in a decoded body: `{error: {code, message}}`, `{error: "text"}`, `{object: "error", message}`,
    an error inside choice 0 and, when this is the whole answer and not one event of many, `{detail}` or `{message}`.
    None when the payload is no error."""
    if not isinstance(payload, dict):
        return None
    choices = payload.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if error := payload.get("error") or (first.get("error") if isinstance(first, dict) else None):
        return _error_body(error)
    marked = payload.get("object") == "error" or payload.get("type") == "error"
    if marked or (whole and "choices" not in payload and ("detail" in payload or "message" in payload)):
        return _error_body(payload)
    return None


def _error_body(error: object) -> ErrorBody:
    if not isinstance(error, dict):
        return ErrorBody(error if isinstance(error, str) else json.dumps(error))
    message = next((error[name] for name in ("message", "detail", "msg", "error") if error.get(name)), error)
    code = " ".join(str(error[name]) for name in ("code", "status", "type") if isinstance(error.get(name), str | int))
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    text = message if isinstance(message, str) else json.dumps(message)
    return ErrorBody(f"{text} ({raw})" if isinstance(raw, str) else text, code, _lower_headers(metadata))


def _lower_headers(metadata: object) -> dict[str, str]:
    """OpenRouter repeats the rate limit's headers inside the body, also in a stream, where there are no others."""
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    return {str(name).lower(): str(value) for name, value in headers.items()} if isinstance(headers, dict) else {}


# --- token log probabilities, in the two shapes that servers use ---


def parse_logprobs(raw: object) -> tuple[TokenLogprob, ...]:
    """Reads `{content: [{token, logprob, top_logprobs: [{token, logprob}]}]}` or the older parallel lists
    `{tokens, token_logprobs, top_logprobs: [{token: logprob}]}`. Natural logarithms <= 0; a token without a number is
    left out, anything else gives an empty tuple."""
    if not isinstance(raw, dict):
        return ()
    if isinstance(raw.get("content"), list):
        return _from_objects(raw["content"])
    if isinstance(raw.get("tokens"), list):
        return _from_lists(raw)
    return ()


def _from_objects(entries: Sequence[object]) -> tuple[TokenLogprob, ...]:
    found = []
    for entry in entries:
        pair = _pair(entry)
        if pair is not None and isinstance(entry, dict):
            found.append(TokenLogprob(*pair, alternatives=_alternatives(entry.get("top_logprobs"))))
    return tuple(found)


def _from_lists(raw: Mapping[str, object]) -> tuple[TokenLogprob, ...]:
    tokens, values, tops = (_list(raw.get(name)) for name in ("tokens", "token_logprobs", "top_logprobs"))
    found = []
    for token, value, top in zip_longest(tokens, values, tops):
        number = _number(value)
        if isinstance(token, str) and number is not None:
            found.append(TokenLogprob(clean(token), number, _alternatives(top)))
    return tuple(found)


def _alternatives(raw: object) -> tuple[TokenAlternative, ...]:
    if isinstance(raw, dict):
        raw = [{"token": token, "logprob": value} for token, value in raw.items()]
    pairs = (_pair(entry) for entry in _list(raw))
    return tuple(TokenAlternative(*pair) for pair in pairs if pair is not None)


def _pair(entry: object) -> tuple[str, float] | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("token"), str):
        return None
    number = _number(entry.get("logprob"))
    return None if number is None else (clean(entry["token"]), number)


def _number(value: object) -> float | None:
    if isinstance(value, str) and value.strip().lower() in ("-inf", "-infinity"):
        return LEAST_LOGPROB
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None  # only NaN differs from itself; math.isnan fails on an integer too large for a float
    return float(min(0, max(LEAST_LOGPROB, value)))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
