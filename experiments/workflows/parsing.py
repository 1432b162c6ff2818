"""Reading what models write. A parser returns a value or raises Unreadable with the reason, never a default."""

import json
import math
import re
from itertools import islice
from typing import Any

LONGEST_ANSWER = 200_000
DEEPEST_ANSWER = 40
LARGEST_SHOWN = 10**15
MOST_FENCES = 5
FENCE = re.compile(r"```[a-zA-Z]*[ \t\r]*\n[ \t]*\{")


class Unreadable(ValueError):
    """The answer holds no value of the kind asked for; the message says why, in plain words."""


def json_object(text: str) -> dict[str, Any]:
    """The JSON object in an answer: bare, in a code fence, or after some prose.

    Raises Unreadable when there is none, when another one follows it, when it is cut short, nested deeper than 40
    levels or longer than 200 kB.
    """
    if len(text) > LONGEST_ANSWER:
        raise Unreadable(f"the answer is longer than {LONGEST_ANSWER} characters")
    found = _objects(text)
    if any(other != found[0] for other in found):
        raise Unreadable("the answer holds two JSON objects that differ")
    if found:
        return found[0]
    if "{" in text:
        raise Unreadable("the answer is not valid JSON, or was cut short")
    raise Unreadable("the answer holds no JSON object")


def number(value: Any, low: float, high: float) -> float:
    """A number within [low, high]. Raises Unreadable for anything else, text and booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable("is missing" if value is None else "is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise Unreadable("is not a finite number")
    if not low <= value <= high:
        shown = f"{value:g}" if abs(value) < LARGEST_SHOWN else "far"  # an integer may be too large for a float
        raise Unreadable(f"is {shown}, outside {low:g} to {high:g}")
    return float(value)


def _objects(text: str) -> list[dict[str, Any]]:
    """The object that begins the answer or one of its code fences, and the one that follows it, if any does."""
    starts = [text.find("{"), *islice((fence.end() - 1 for fence in FENCE.finditer(text)), MOST_FENCES)]
    for start in starts:
        first, end = _decoded(text, start)
        if first is not None:
            second, _end = _decoded(text, text.find("{", end))
            return [first] if second is None else [first, second]
    return []


def _decoded(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    if start < 0 or _depth(text[start:]) > DEEPEST_ANSWER:
        return None, start
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except ValueError:
        return None, start
    return value, end


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
