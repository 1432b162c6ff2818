"""What `GET /v1/models` lists, with fields as OpenRouter names them."""

from decimal import Decimal
from typing import Any, Final

from experiments.gateway.simulated.names import CODERS, PERSONALITIES, ROLES, SEEING

CONTEXT_TOKENS: Final = 128_000
INPUT_PRICE: Final = Decimal("0.0000005")
OUTPUT_PRICE: Final = Decimal("0.0000015")
_SUPPORTED: Final = [
    *("max_tokens", "temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs"),
    *("response_format", "structured_outputs", "reasoning", "include_reasoning"),
]


def list_models() -> dict[str, Any]:
    return {"object": "list", "data": [_entry(slug) for slug in PERSONALITIES + ROLES + CODERS]}


def _entry(slug: str) -> dict[str, Any]:
    return {
        "id": f"sim/{slug}",
        "object": "model",
        "created": 1_735_689_600,
        "owned_by": "simulated",
        "name": f"Simulated · {slug.capitalize()}",
        "description": "Not a language model: a deterministic simulation for demonstrations and tests.",
        "context_length": CONTEXT_TOKENS,
        "pricing": {"prompt": f"{INPUT_PRICE:f}", "completion": f"{OUTPUT_PRICE:f}"},
        "supported_parameters": _SUPPORTED,
        "top_provider": {"context_length": CONTEXT_TOKENS, "max_completion_tokens": None},
        "architecture": {
            "input_modalities": ["text", "image"] if slug in SEEING else ["text"],
            "output_modalities": ["text"],
        },
    }


def cost_of(input_tokens: int, output_tokens: int) -> Decimal:
    """US dollars."""
    return input_tokens * INPUT_PRICE + output_tokens * OUTPUT_PRICE
