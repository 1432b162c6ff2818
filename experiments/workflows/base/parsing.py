"""Values out of what models write. A reader returns a value or raises Unreadable with the reason, never a default."""

import math
import re
from typing import Any

LONGEST_ANSWER = 200_000
LARGEST_SHOWN = 10**15
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Unreadable(ValueError):
    """The answer holds no value of the kind asked for; the message says why, in plain words."""


def plain(value: Any) -> str:
    """A text without blanks around it and without characters that no database can hold; "" for what is no text."""
    return UNSTORABLE.sub("\ufffd", value).strip() if isinstance(value, str) else ""


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


def number_or_none(value: Any, low: float, high: float) -> float | None:
    """The same where a number is welcome and not needed."""
    try:
        return number(value, low, high)
    except Unreadable:
        return None
