"""One decoded `chat.completion.chunk` (or whole `chat.completion`) becomes a delta. Nothing here keeps state."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.gateway.logprobs import parse_logprobs
from experiments.gateway.types import FinishReason, TokenLogprob, Usage
from experiments.gateway.usage import parse_usage

_NO_FIELDS: Mapping[str, Any] = {}
_FINISH_WORDS: dict[str, FinishReason] = {
    **dict.fromkeys(("stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "max_length", "model_length"), "length"),
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal", "sensitive"),
        "content_filter",
    ),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
}


@dataclass(frozen=True, slots=True)
class Delta:
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
    """Reads whatever is there and of the right type; anything else counts as absent. Errors are found elsewhere."""
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
