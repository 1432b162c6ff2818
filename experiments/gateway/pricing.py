"""Tokens become money, in US dollars. An unknown price gives None, never 0."""

import math
from decimal import Decimal

from experiments.gateway.types import ChatRequest, CostSource, Price, Usage
from experiments.gateway.usage import image_tokens, prompt_bytes

SAFE_BYTES_PER_TOKEN = 3
ASSUMED_OUTPUT_TOKENS = 8192


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

    Three bytes of prompt count as a token, and the answer at its limit: the request's, else the model's, else 8192.
    """
    prompt = math.ceil(prompt_bytes(request) / SAFE_BYTES_PER_TOKEN) + image_tokens(request)
    if request.schema is not None:
        prompt += math.ceil(len(str(request.schema)) / SAFE_BYTES_PER_TOKEN)
    answer = request.params.max_tokens or request.capabilities.max_output_tokens or ASSUMED_OUTPUT_TOKENS
    return prompt, answer
