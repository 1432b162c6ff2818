"""An entry of a provider's `/models` list becomes a value: OpenRouter's fields, and what other servers give of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from experiments.gateway.types import Price

LONGEST_NAME = 200
PRICE_PLACES = Decimal("1e-14")
HIGHEST_PRICE = Decimal(100_000)


@dataclass(frozen=True, slots=True)
class Listing:
    """A model as listed. capabilities: only those that the entry says something about. price: None when not listed."""

    upstream: str
    label: str
    capabilities: dict[str, object]
    price: Price | None


def read_listing(entry: Mapping[str, Any]) -> Listing | None:
    """None when the entry has no name that could be stored and asked for."""
    name = entry.get("id")
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        return None
    label = entry.get("name")
    if not isinstance(label, str) or not label.strip() or not label.isprintable():
        label = name
    return Listing(name, label[:LONGEST_NAME], _capabilities(entry), _price(entry.get("pricing")))


def _capabilities(entry: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    supported = entry.get("supported_parameters")
    if isinstance(supported, list):
        found |= _supported({name for name in supported if isinstance(name, str)})
    modalities = _mapping(entry.get("architecture")).get("input_modalities")
    if isinstance(modalities, list):
        found["images"] = "image" in modalities
    for field, value in (
        ("context_tokens", entry.get("context_length") or entry.get("max_model_len")),
        ("max_output_tokens", _mapping(entry.get("top_provider")).get("max_completion_tokens")),
    ):
        if type(value) is int and value > 0:
            found[field] = value
    return found


def _supported(names: set[str]) -> dict[str, Any]:
    only_new_limit = "max_completion_tokens" in names and "max_tokens" not in names
    return {
        "temperature": "temperature" in names,
        "seed": "seed" in names,
        "logprobs": "logprobs" in names,
        "schema": _schema(names),
        "max_tokens_field": "max_completion_tokens" if only_new_limit else "max_tokens",
        "reasoning_effort": "reasoning" in names or "reasoning_effort" in names,
    }


def _schema(names: set[str]) -> str:
    if "structured_outputs" in names:
        return "json_schema"
    return "json_object" if "response_format" in names else "none"


def _price(pricing: Any) -> Price | None:
    """Dollars per token. A negative price means that it depends on where a router sends the request: not known."""
    pricing = _mapping(pricing)
    input_price, output_price = _amount(pricing.get("prompt")), _amount(pricing.get("completion"))
    if input_price is None or output_price is None:
        return None
    return Price(
        input_price,
        output_price,
        _amount(pricing.get("input_cache_read")),
        _amount(pricing.get("request")) or Decimal(0),
    )


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        amount = Decimal(str(value))
        return amount.quantize(PRICE_PLACES) if 0 <= amount < HIGHEST_PRICE else None
    except InvalidOperation:
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
