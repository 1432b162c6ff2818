"""What a call sent and got, taken apart for the inspector."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template

register = template.Library()

TOKENS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """messages: what the model was told; parameters: everything else of the request; raw: all of it as JSON."""

    messages: list[dict[str, str]]
    parameters: dict[str, Any]
    raw: str


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    logprob: float
    probability: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """The first tokens of an answer, and how many more there are."""

    shown: list[Token]
    more: int


@register.simple_tag
def sent_parts(request: Mapping[str, Any]) -> Sent:
    messages = [
        {"role": str(m.get("role", "")), "content": _text(m.get("content"))} for m in request.get("messages", [])
    ]
    parameters = {name: _text(value) for name, value in request.items() if name != "messages"}
    return Sent(messages, parameters, json.dumps(request, ensure_ascii=False, indent=2))


@register.simple_tag
def confident_tokens(logprobs: Sequence[Mapping[str, Any]]) -> Tokens:
    shown = [Token(t["token"], t["logprob"], math.exp(min(t["logprob"], 0))) for t in logprobs[:TOKENS_SHOWN]]
    return Tokens(shown, len(logprobs) - len(shown))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
