"""How long a provider asks to wait, out of its headers."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

SHORTEST, LONGEST = 1.0, 120.0
_GO_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII)
_RESETS = ("x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "x-ratelimit-reset")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, clamped to 1-120; None when the provider says nothing usable.

    `Retry-After` (seconds or an HTTP date) is what the provider asks for and wins; without it the larger of the
    x-ratelimit-reset times counts. Header names are matched in lower case; `now` is aware.
    """
    asked = _seconds(headers.get("retry-after-ms"), unit=0.001)
    if asked is None:
        asked = _seconds_or_date(headers.get("retry-after"), now)
    if asked is None:
        resets = [reset for name in _RESETS if (reset := _reset(headers.get(name), now)) is not None]
        asked = max(resets, default=None)
    return None if asked is None else min(LONGEST, max(SHORTEST, asked))


def _seconds(value: str | None, unit: float = 1.0) -> float | None:
    """A number of seconds; negative, infinite and not-a-number values say nothing."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number * unit if math.isfinite(number) and number >= 0 else None


def _seconds_or_date(value: str | None, now: datetime) -> float | None:
    seconds = _seconds(value)
    if seconds is not None or not value:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())


def _reset(value: str | None, now: datetime) -> float | None:
    """A Go duration ("6m0s"), seconds, or the moment itself in seconds or milliseconds since 1970. 0 and -1, which
    Azure sends, mean nothing."""
    number = _seconds(value)
    if number is None:
        number = _go_duration(value or "")
    elif number > 1e11:
        number = number / 1000 - now.timestamp()
    elif number > 1e9:
        number -= now.timestamp()
    return number if number is not None and number > 0 else None


def _go_duration(value: str) -> float | None:
    match = _GO_DURATION.fullmatch(value.strip())
    if match is None or not match.group():
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
