"""Tokens: what a provider counted, what to assume when it counted nothing, and whether it cut the prompt."""

import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from experiments.gateway.types import ChatRequest, Usage

BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1500
PIXELS_PER_TOKEN = 28 * 28
LEAST_PER_IMAGE = 256
_LARGEST_COUNT = 2**31 - 1
_COMMON_WINDOWS = frozenset(2**power for power in range(11, 21))


def parse_usage(raw: Mapping[str, object]) -> Usage | None:
    """Counts in three disjoint input buckets, or None when nothing usable is there (missing, or zero throughout).

    `prompt_tokens` contains the cached tokens (OpenAI, OpenRouter, DeepSeek); `input_tokens` beside
    `cache_read_input_tokens` does not (Anthropic). A total above prompt + completion is thinking that the provider
    left out of completion (xAI, Gemini), unless it is just the cache.
    """
    total_input, cached, written = _input_counts(raw)
    output = _count(raw, "completion_tokens", "output_tokens")
    details = _part(raw, "completion_tokens_details") or _part(raw, "output_tokens_details")
    reasoning = _count(details, "reasoning_tokens") or _count(raw, "reasoning_tokens")
    hidden = _count(raw, "total_tokens") - total_input - output
    if hidden > 0 and output + hidden <= _LARGEST_COUNT and hidden != cached + written:
        output, reasoning = output + hidden, max(reasoning, hidden)
    if not total_input and not output:
        return None
    return Usage(
        input_tokens=max(0, total_input - cached - written),
        output_tokens=output,
        reasoning_tokens=min(reasoning, output),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        provider_cost=_provider_cost(raw),
    )


def estimate_usage(request: ChatRequest, answer: str) -> Usage:
    """Usage from the lengths of the texts, flagged as estimated. Never zero output for a text that is not empty."""
    return Usage(
        input_tokens=math.ceil(prompt_bytes(request) / BYTES_PER_TOKEN) + image_tokens(request),
        output_tokens=math.ceil(_bytes(answer) / BYTES_PER_TOKEN),
        estimated=True,
    )


def prompt_bytes(request: ChatRequest) -> int:
    """UTF-8 bytes of the prompt's text: unlike characters, a usable measure of tokens for Chinese as well."""
    return sum(_bytes(message.text) for message in request.messages)


def image_tokens(request: ChatRequest) -> int:
    """By area where it is known: the most that is usual is a token for 28 × 28 pixels, the least 256 of them."""
    return sum(_image_tokens(image.pixels) for message in request.messages for image in message.pictures)


def _image_tokens(pixels: int) -> int:
    return max(LEAST_PER_IMAGE, math.ceil(pixels / PIXELS_PER_TOKEN)) if pixels else TOKENS_PER_IMAGE


def prompt_was_cut(request: ChatRequest, usage: Usage) -> bool:
    """Whether the provider seems to have dropped a part of the prompt without saying so (Ollama's num_ctx).

    True when the counted input is far below what the text must have, or below it and exactly at a window's size: the
    model's own or a power of two, less the token that some servers keep free.
    """
    if usage.estimated:
        return False
    counted = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens
    bytes_per_token = prompt_bytes(request) / max(counted, 1)
    if counted < 1000 or bytes_per_token < 5:
        return False
    windows = _COMMON_WINDOWS | {request.capabilities.context_tokens}
    at_window = bool({counted, counted + 1, counted + usage.output_tokens} & windows)
    return at_window or bytes_per_token > 12


def _input_counts(raw: Mapping[str, object]) -> tuple[int, int, int]:
    """All input, the cached part and the part written to a cache; the first always contains the other two."""
    details = _part(raw, "prompt_tokens_details") or _part(raw, "input_tokens_details")
    read, created = _count(raw, "cache_read_input_tokens"), _count(raw, "cache_creation_input_tokens")
    cached = _count(details, "cached_tokens") or _count(raw, "prompt_cache_hit_tokens", "cached_tokens") or read
    written = _count(details, "cache_write_tokens", "cache_creation_tokens") or created
    total = _count(raw, "prompt_tokens", "input_tokens")
    excluded = "prompt_tokens" not in raw and bool(read or created)
    if excluded or cached + written > total:
        total += cached + written
    if total > _LARGEST_COUNT:  # no server has counted that
        return total - cached - written, 0, 0
    return total, cached, written


def _provider_cost(raw: Mapping[str, object]) -> Decimal | None:
    """US dollars. With a key of one's own at OpenRouter `cost` is only its fee: the upstream's price is added."""
    value = raw.get("cost")
    cost = _money(value.get("total_cost") if isinstance(value, dict) else value)
    if cost is not None and raw.get("is_byok") is True:
        cost += _money(_part(raw, "cost_details").get("upstream_inference_cost")) or 0
    return cost


def _money(value: object) -> Decimal | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 1_000_000 else None


def _count(raw: Mapping[str, object], *names: str) -> int:
    """The first named count that is a whole number in range; 0 when there is none."""
    for name in names:
        value = raw.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT:
            return int(value)
    return 0


def _part(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = raw.get(name)
    return part if isinstance(part, dict) else {}


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
