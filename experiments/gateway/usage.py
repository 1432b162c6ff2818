"""Tokens and money: what a provider counted, what to assume when it counted nothing, and what that costs."""

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from experiments.gateway.types import ChatRequest, CostSource, Price, Usage

BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1500
PIXELS_PER_TOKEN = 28 * 28
LEAST_PER_IMAGE = 256
MOST_PER_TEXT = 20
"""Output tokens for each token of the visible answer: hidden reasoning beyond that is believed only within a limit."""
MOST_UNLIMITED = 131_072
"""Output tokens of one answer where neither the request nor the catalogue names a limit."""
OWN_PROMPT = 32_768
"""Input tokens that a provider may add to the prompt: chat template, system prompt, search results."""
OVER_LIMIT = 64
_LARGEST_COUNT = 2**31 - 1
_COMMON_WINDOWS = frozenset(2**power for power in range(11, 21))

SAFE_BYTES_PER_TOKEN = 3
ASSUMED_OUTPUT_TOKENS = 8192
ASSUMED_THINKING_TOKENS = 32_768
"""Output of an answer that thinks first, where neither the request nor the catalogue names a limit."""


class _Unreadable(Exception):
    """A count that is no whole number in range."""


def parse_usage(raw: Mapping[str, object]) -> Usage | None:
    """Counts in three disjoint input buckets, or None when nothing usable is there (missing, or zero throughout) or
    one of the counts cannot be read.

    `prompt_tokens` contains the cached tokens (OpenAI, OpenRouter, DeepSeek); `input_tokens` beside
    `cache_read_input_tokens` does not (Anthropic). A total above prompt + completion is thinking that the provider
    left out of completion (xAI, Gemini), unless it is just the cache. Whether the counts fit the text is for
    `settle_usage` to find out.
    """
    try:
        return _parsed(raw)
    except _Unreadable:
        return None


def settle_usage(reported: Usage | None, request: ChatRequest, answer: str) -> tuple[Usage, str]:
    """What a call used, and a remark where the provider's own counts were not usable or contradict what it was asked
    and what it answered. The counts are estimated then; a cost that the provider named stays.

    answer: all the text that arrived, reasoning and refusal included.
    """
    if reported is None:
        return estimate_usage(request, answer), "the provider reported no usable token counts: tokens are estimated"
    if doubt := _contradiction(reported, request, answer):
        estimated = replace(estimate_usage(request, answer), provider_cost=reported.provider_cost)
        return estimated, f"the provider reported {doubt}: tokens are estimated"
    return reported, ""


def _contradiction(usage: Usage, request: ChatRequest, answer: str) -> str:
    """Which count cannot be true; empty when all can. No text has more tokens than bytes."""
    prompt, read = prompt_bytes(request), usage.total_input
    most_read = prompt + len(str(request.schema or "")) + 4 * image_tokens(request) + OWN_PROMPT
    if read > most_read or (prompt and not read):
        return f"{read} input tokens for a prompt of {prompt} bytes"
    named = [limit for limit in (request.params.max_tokens, request.capabilities.max_output_tokens) if limit]
    limit, written = min(named, default=MOST_UNLIMITED), _bytes(answer)
    most_written = max(limit + OVER_LIMIT, MOST_PER_TEXT * math.ceil(written / BYTES_PER_TOKEN))
    if usage.output_tokens > most_written or (written and not usage.output_tokens):
        return f"{usage.output_tokens} output tokens for an answer of {written} bytes and a limit of {limit} tokens"
    return ""


def _parsed(raw: Mapping[str, object]) -> Usage | None:
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
    pictures = [image for message in request.messages for image in message.pictures]
    return sum(
        max(LEAST_PER_IMAGE, math.ceil(image.pixels / PIXELS_PER_TOKEN)) if image.pixels else TOKENS_PER_IMAGE
        for image in pictures
    )


def prompt_was_cut(request: ChatRequest, usage: Usage) -> bool:
    """Whether the provider seems to have dropped a part of the prompt without saying so (Ollama's num_ctx).

    True when the counted input is far below what the text must have, or below it and exactly at a window's size: the
    model's own or a power of two, less the token that some servers keep free.
    """
    if usage.estimated:
        return False
    counted = usage.total_input
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
    """The first named count that is there, also as a text of digits; 0 when there is none. Raises _Unreadable."""
    for name in names:
        value = raw.get(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(_LARGEST_COUNT)):
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT:
            return int(value)
        if value is not None:
            raise _Unreadable
    return 0


def _part(raw: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = raw.get(name)
    return part if isinstance(part, dict) else {}


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


# --- money, in US dollars: an unknown price gives None, never 0 ---


def cost(usage: Usage, price: Price | None) -> tuple[Decimal | None, CostSource]:
    """What a call cost: the provider's own figure, else tokens times price, else (None, "unknown").

    Cached input without a price of its own counts at the full input price, as does writing a cache.
    """
    if usage.provider_cost is not None:
        return usage.provider_cost, "provider"
    if price is None:
        return None, "unknown"
    cached_price = price.input if price.cached_input is None else price.cached_input
    amount = (
        price.per_request
        + price.input * (usage.input_tokens + usage.cache_write_tokens)
        + cached_price * usage.cached_input_tokens
        + price.output * usage.output_tokens
    )
    return amount, "price"


def reserve(request: ChatRequest, price: Price | None) -> Decimal | None:
    """An upper estimate of a call's cost before it is made; None when the price is unknown."""
    if price is None:
        return None
    prompt, answer = most_tokens(request)
    return price.per_request + price.input * prompt + price.output * answer


def most_tokens(request: ChatRequest) -> tuple[int, int]:
    """An upper estimate of the tokens that a call reads and writes.

    Three bytes of prompt count as a token, and the answer at its limit: the request's, else the model's, else 8192, or
    32,768 for a model that thinks before it answers.
    """
    prompt = math.ceil(prompt_bytes(request) / SAFE_BYTES_PER_TOKEN) + image_tokens(request)
    if request.schema is not None:
        prompt += math.ceil(len(str(request.schema)) / SAFE_BYTES_PER_TOKEN)
    accepts = request.capabilities
    assumed = ASSUMED_THINKING_TOKENS if accepts.reasoning_effort or accepts.reasoning_opened else ASSUMED_OUTPUT_TOKENS
    return prompt, request.params.max_tokens or accepts.max_output_tokens or assumed
