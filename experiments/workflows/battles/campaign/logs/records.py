"""A battle that was judged elsewhere, whatever the log it was read from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from experiments.engine.text import storable

Side = Literal["", "a", "b", "tie", "both_bad"]
LONGEST_NAME = 200
LARGEST_INDEX = 2**31 - 1
NAMES_OF_TIES = ("tie", "both_bad")


class Malformed(ValueError):
    """A line that cannot be taken over; the message says why."""


class Void(Malformed):
    """A battle that the log itself marks as void: left out, and no fault of the log."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgment. a_first: whether model_a was shown first. winner: empty when none could be read."""

    a_first: bool
    winner: Side
    raw: str = ""
    unread_reason: str = ""
    scores: Mapping[str, Any] | None = None
    confidence: float | None = None
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """What was compared on: a sample by its number, or a question by its name. subset: None where the log has none."""

    subset: str | None = None
    index: int | None = None
    question: str = ""
    category: str = ""
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """model_a against model_b. winner: empty when open, then with open_reason. ballot: empty for a judge that is a
    model. texts: what both wrote, where the log holds it. experiment: "name_yyyymmdd", where it has one.
    """

    model_a: str
    model_b: str
    task: Task
    winner: Side
    is_consistent: bool | None = None
    open_reason: str = ""
    judged: datetime | None = None
    judge: str = ""
    ballot: str = ""
    a_shown_first: bool | None = None
    calls: tuple[Judged, ...] = ()
    texts: tuple[str, str] | None = None
    experiment: str = field(default="", compare=False)


def names(row: Mapping[str, Any], first: str = "model_a", second: str = "model_b") -> tuple[str, str]:
    """Who stands against whom. Raises Malformed."""
    found = tuple(_name(row, key) for key in (first, second))
    if found[0] == found[1]:
        raise Malformed(_("%(name)s stands against itself.") % {"name": found[0]})
    return found[0], found[1]


def moment(value: Any) -> datetime | None:
    """A time from seconds since 1970 or from ISO 8601, without a zone in UTC. None when there is none. Raises
    Malformed for what is no time.
    """
    if value in (None, ""):
        return None
    try:
        found = _moment(value)
    except (ValueError, OverflowError, OSError) as error:
        raise Malformed(_("“%(value)s” is no time.") % {"value": str(value)[:60]}) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def text(value: Any) -> str:
    """A text that every database can hold; of other values nothing."""
    return storable(value) if isinstance(value, str) else ""


def _moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    if isinstance(value, str) and (found := parse_datetime(value.strip())):
        return found
    return datetime.fromtimestamp(float(value), UTC)


def _name(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise Malformed(_("%(key)s is missing.") % {"key": key})
    name = storable(value.strip())
    if len(name) > LONGEST_NAME:
        raise Malformed(
            _("The name in %(key)s is longer than %(most)s characters.") % {"key": key, "most": LONGEST_NAME}
        )
    if name in NAMES_OF_TIES:
        raise Malformed(_("A contestant called “%(name)s” cannot be told from a tie.") % {"name": name})
    return name
