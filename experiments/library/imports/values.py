"""What strangers' JSON says, taken for what it is: a text, a number, a moment, or nothing."""

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Data = dict[str, Any]
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
MILLISECONDS = 1e11  # a larger number of seconds would lie beyond the year 5000


class Unreadable(ValueError):
    """What was sent cannot be taken over; the message is a sentence that says why. place: where, "" for all of it."""

    def __init__(self, said: str, place: str = "") -> None:
        super().__init__(f"{place}: {said}" if place else said)
        self.said, self.place = said, place


@dataclass(frozen=True, slots=True)
class Taken:
    """A run as a file tells of it. place: where in the file. document: as `reports.document` writes one. notes: what
    was not taken at its word, and why. kept: what the file says beside what a run can hold. identity: what tells it
    from others, where that is less than all of it.
    """

    place: str
    document: Data
    notes: tuple[str, ...] = ()
    kept: Data = field(default_factory=dict)
    identity: Any = None

    @property
    def digest(self) -> str:
        """The same run in another file, or in another place of it, is the same."""
        whole = [self.document, self.kept] if self.identity is None else self.identity
        said = json.dumps(whole, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in listed(value) if isinstance(item, Mapping)]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def line(value: Any, most: int = 200) -> str:
    """One line without control characters, no longer than that."""
    return "".join(letter for letter in " ".join(text(value).split()) if letter.isprintable())[:most]


def slug(value: Any) -> str:
    """A model's name as the catalogue holds one; `unknown` where nothing is said."""
    return re.sub(r"\s+", "-", line(value)) or "unknown"


def number(value: Any, low: float, high: float) -> float | None:
    """None for what is no number, or lies outside."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and low <= value <= high else None


def whole(value: Any, low: int = 0, high: int = 2**31 - 1) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if low <= value <= high else None


def moment(value: Any) -> str | None:
    """ISO with its zone: UTC where none is told. A number is seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            said = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            said = datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
        else:
            return None
        said = said if said.tzinfo else said.replace(tzinfo=UTC)
        return said.isoformat() if EARLIEST <= said < LATEST else None
    except (ValueError, OverflowError, OSError):
        return None


def rest(value: Mapping[str, Any], known: Collection[str]) -> Data:
    """What it says beside what is known."""
    return {name: item for name, item in value.items() if name not in known and item is not None}
