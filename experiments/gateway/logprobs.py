"""Token log probabilities out of the two shapes that servers use."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from experiments.gateway.characters import clean
from experiments.gateway.types import TokenAlternative, TokenLogprob

LEAST = -9999.0
"""Stands for minus infinity, as at OpenAI: a database's JSON has no infinity."""


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
        return LEAST
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None  # only NaN differs from itself; math.isnan fails on an integer too large for a float
    return float(min(0, max(LEAST, value)))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
