"""What a simulated model answers, before it is cut into tokens."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from experiments.gateway.simulated.tokens import split_tokens

CHARACTER_LIMIT: Final = 4_000_000


@dataclass(frozen=True)
class Reply:
    """reasoning_field: the delta's name for the reasoning; empty when the reasoning is part of the text or absent."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = "stop"
    reasoning_field: str = "reasoning"

    @cached_property
    def reasoning_tokens(self) -> list[str]:
        return split_tokens(self.reasoning)

    @cached_property
    def text_tokens(self) -> list[str]:
        return split_tokens(self.text)

    @property
    def token_count(self) -> int:
        return len(self.reasoning_tokens) + len(self.text_tokens)


def place_reasoning(reply: Reply, think: str) -> Reply:
    """Puts the reasoning where a server of the kind `think` (none, native, content, tags) has it."""
    if think == "tags" and reply.reasoning:
        return replace(reply, text=f"<think>\n{reply.reasoning}\n</think>\n\n{reply.text}", reasoning="")
    if think == "none":
        return replace(reply, reasoning="")
    return replace(reply, reasoning_field="reasoning_content" if think == "content" else "reasoning")


def stop_at(reply: Reply, stops: list[str]) -> Reply:
    positions = [reply.text.find(stop) for stop in stops if stop]
    found = [position for position in positions if position >= 0]
    return replace(reply, text=reply.text[: min(found)], finish_reason="stop") if found else reply


def limit_tokens(reply: Reply, limit: int | None) -> Reply:
    """Reasoning counts, as it does at providers: a small limit can leave no text at all."""
    if limit is None or reply.token_count <= limit:
        return reply
    reasoning = reply.reasoning_tokens[:limit]
    text = reply.text_tokens[: limit - len(reasoning)]
    return replace(reply, text="".join(text), reasoning="".join(reasoning), finish_reason="length")
