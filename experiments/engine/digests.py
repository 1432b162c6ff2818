"""Digests of what runs record: an event's covers the event before it, a call's all of its columns.

They show damage: rows that were changed, dropped, or put back from an older copy. They are no signatures: whoever can
write to the database can compute them, too.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from experiments.models.money import kept

if TYPE_CHECKING:
    from experiments.models import Event

LENGTH = 32  # hexadecimal digits of SHA-256
BEGUN = ("id", "run_id", "step_id", "attempt", "model_id", "price_id", "request", "reserved", "reserved_tokens", "sent")
ENDED = (
    *("state", "text", "reasoning", "logprobs", "finish_reason", "native_finish_reason", "served_model"),
    *("served_provider", "generation_id", "system_fingerprint", "warnings", "error_kind", "error", "input_tokens"),
    *("output_tokens", "reasoning_tokens", "cached_input_tokens", "usage_is_estimated", "cost", "cost_source"),
    *("first_byte_seconds", "seconds"),
)
WHOLE = 1e16  # from here on Python writes floats with an exponent, and PostgreSQL without a decimal point


def of_event(before: str, event: "Event") -> str:
    """before: the digest of the event before it; empty for the first one, and behind one that has none."""
    return _digest(before, str(event.run_id), event.seq, event.type, event.data, event.at)


def of_begun_call(columns: Mapping[str, Any]) -> str:
    """columns: those of BEGUN, which never change."""
    return _digest(*(columns[name] for name in BEGUN))


def of_ended_call(begun: str, columns: Mapping[str, Any]) -> str:
    """begun: of `of_begun_call`. columns: those of ENDED as they are stored."""
    return _digest(begun, *(columns[name] for name in ENDED))


def _digest(*values: Any) -> str:
    text = json.dumps(values, default=_plain, sort_keys=True, separators=(",", ":"))
    if "e+" in text:  # perhaps a float that PostgreSQL gives back as a whole number
        text = json.dumps(json.loads(text, parse_float=_number), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _plain(value: Any) -> str:
    match value:
        case Decimal():
            return f"{kept(value):f}"
        case datetime():
            return value.astimezone(UTC).isoformat()
        case UUID():
            return str(value)
    raise TypeError(f"{type(value).__name__} is in no digest")


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if abs(number) >= WHOLE else number
