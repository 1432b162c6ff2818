"""Plausible, deterministic token probabilities in OpenAI's shape."""

import math
from random import Random
from typing import Any, Final

_ALTERNATIVES: Final = (
    *(
        " the",
        " a",
        " we",
        " I",
        " to",
        " our",
        " and",
        " that",
        " this",
        " but",
        " you",
        " it",
        " not",
        " with",
        " for",
    ),
    *(" more", " less", " could", " should", " would", " perhaps", " fair", " still", ".", ","),
)


def describe_token(rng: Random, token: str, count: int) -> dict[str, Any]:
    """The chosen token is among its `count` alternatives, which are sorted by falling probability."""
    chosen = rng.betavariate(5, 1.2) if rng.random() > 0.08 else rng.uniform(0.08, 0.35)
    chosen = min(max(chosen, 1e-4), 0.9999)
    entry = _entry(token, chosen)
    return {**entry, "top_logprobs": _alternatives(rng, entry, chosen, count)}


def _alternatives(rng: Random, entry: dict[str, Any], chosen: float, count: int) -> list[dict[str, Any]]:
    if count == 0:
        return []
    others = rng.sample([word for word in _ALTERNATIVES if word != entry["token"]], count - 1)
    listed, left = [entry], 1 - chosen
    for other in others:
        share = left * rng.uniform(0.35, 0.7)
        left -= share
        listed.append(_entry(other, share))
    return sorted(listed, key=lambda item: -float(item["logprob"]))


def _entry(token: str, probability: float) -> dict[str, Any]:
    encoded = token.encode("utf-8", "surrogatepass")
    return {"token": token, "logprob": round(math.log(max(probability, 1e-12)), 6), "bytes": list(encoded)}
