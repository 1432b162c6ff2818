"""Reading what models write. A parser returns a value or raises Unreadable with the reason, never a default."""

import json
import math
import re
from typing import Any

LONGEST_ANSWER = 200_000
DEEPEST_ANSWER = 40
FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)


class Unreadable(ValueError):
    """The answer holds no value of the kind asked for; the message says why, in plain words."""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer: bare, in a code fence, or after some prose.

    Raises Unreadable when there is none, when it is cut short, nested deeper than 40 levels or longer than 200 kB.
    """
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer is longer than {LONGEST_ANSWER} characters")
    for candidate in _candidates(text):
        value = _decoded(candidate)
        if isinstance(value, dict):
            return value
    if "{" in text:
        raise Unreadable("the answer is not valid JSON, or was cut short")
    raise Unreadable("the answer holds no JSON object")


def number(value: Any, low: float, high: float) -> float:
    """A number within [low, high]. Raises Unreadable for anything else, text and booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable("is missing" if value is None else "is not a number")
    if not math.isfinite(value):
        raise Unreadable("is not a finite number")
    if not low <= value <= high:
        raise Unreadable(f"is {value:g}, outside {low:g} to {high:g}")
    return float(value)


def _candidates(text: str) -> list[str]:
    stripped = text.strip()
    fenced = [match.group(1).strip() for match in FENCE.finditer(text)]
    start = stripped.find("{")
    return [stripped, *fenced, *([stripped[start:]] if start > 0 else [])]


def _decoded(candidate: str) -> Any:
    if not candidate.startswith("{") or _depth(candidate) > DEEPEST_ANSWER:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(candidate)
    except ValueError:
        return None
    return value


def _depth(text: str) -> int:
    """The deepest nesting of brackets, those inside strings included: an upper bound that costs one pass."""
    deepest = depth = 0
    for character in text:
        if character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
    return deepest
