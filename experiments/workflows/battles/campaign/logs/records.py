"""A battle as logs tell it, whatever their format, and the report of what an import made of them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from experiments.engine.text import storable

Side = Literal["", "a", "b", "tie", "both_bad"]
LONGEST_NAME = 200
LARGEST_INDEX = 2**31 - 1
NAMES_OF_TIES = ("tie", "both_bad")
MOST_SHOWN = 100  # refusals, warnings and snapshots of a report


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
    language: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """model_a against model_b. winner: empty when open, then with open_reason. is_vote: of a person, whom the log
    calls `voter`, empty where it does not; occasion: what tells the votes of a voter on the same outputs apart. ballot:
    as it is stored, where it does not follow from these; empty for a judge that judges once. texts: what both wrote,
    where the log holds it. experiment: "name_yyyymmdd", where it has one.
    """

    model_a: str
    model_b: str
    task: Task
    winner: Side
    is_consistent: bool | None = None
    open_reason: str = ""
    judged: datetime | None = None
    judge: str = ""
    is_vote: bool = False
    voter: str = ""
    occasion: str = ""
    ballot: str = ""
    a_shown_first: bool | None = None
    calls: tuple[Judged, ...] = ()
    texts: tuple[str, str] | None = None
    experiment: str = field(default="", compare=False)

    @property
    def length(self) -> int:
        """Characters of what was asked and said."""
        told = sum(len(call.raw) + len(call.rationale) for call in self.calls) if self.calls else 0
        return told + len(self.task.instruction) + sum(map(len, self.texts or ()))


class Placed(NamedTuple):
    """A record and where it was read."""

    file: str
    line: int
    record: Record


def names(row: Mapping[str, Any]) -> tuple[str, str]:
    """Who stands against whom. Raises Malformed."""
    found = []
    for key in ("model_a", "model_b"):
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            raise Malformed(_("%(key)s is missing.") % {"key": key})
        name = storable(value.strip())
        if len(name) > LONGEST_NAME:
            said = _("The name in %(key)s is longer than %(most)s characters.")
            raise Malformed(said % {"key": key, "most": LONGEST_NAME})
        if name in NAMES_OF_TIES:
            raise Malformed(_("A contestant named “%(name)s” cannot be distinguished from a tie.") % {"name": name})
        found.append(name)
    if found[0] == found[1]:
        raise Malformed(_("%(name)s is compared with itself.") % {"name": found[0]})
    return found[0], found[1]


def sample_index(row: Mapping[str, Any]) -> int:
    """Raises Malformed."""
    index = row.get("sample_index")
    if isinstance(index, str) and index.isascii() and index.isdigit():  # of a table
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= LARGEST_INDEX:
        raise Malformed(_("sample_index is no whole number from 0 to %(most)s.") % {"most": LARGEST_INDEX})
    return index


def moment(value: Any) -> datetime | None:
    """A time from seconds since 1970 or from ISO 8601, without a zone in UTC. None when there is none. Raises
    Malformed for what is no time.
    """
    if value in (None, ""):
        return None
    try:
        found = value if isinstance(value, datetime) else None
        if isinstance(value, str):
            found = parse_datetime(value.strip())
        if found is None:
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise ValueError
            found = datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise Malformed(_("“%(value)s” is not a time.") % {"value": str(value)[:60]}) from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def stamp(moment: datetime | None) -> str | None:
    """As logs tell a time: UTC, in seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None


def text(value: Any) -> str:
    """A text that every database can hold; of other values nothing."""
    return storable(value) if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that was not taken over, and why. file is empty where there is only one."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class Report:
    """read: lines. stored: battles that are new. completed: battles that were known, of which the log told more.
    known: told before this import. confirmed: lines of a slim log that its audit log had told. duplicates: battles
    told again within this import, counted once. opened: battles of the log that nobody decided. void: battles that the
    log marks as void, left out. votes: lines that are votes of people, and of these with_order, with_time and
    with_language; voters: whom the log names. columns: which column was read as what. tallies: what warnings are made
    of at the end.
    """

    read: int = 0
    stored: int = 0
    completed: int = 0
    known: int = 0
    confirmed: int = 0
    duplicates: int = 0
    opened: int = 0
    void: int = 0
    contestants: int = 0
    samples: int = 0
    outputs: int = 0
    votes: int = 0
    voters: int = 0
    with_order: int = 0
    with_time: int = 0
    with_language: int = 0
    columns: dict[str, str] = field(default_factory=dict)
    refused: int = 0
    refusals: list[Refused] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    boards: list[str] = field(default_factory=list)
    snapshots: list[dict[str, object]] = field(default_factory=list)
    tallies: Counter[str] = field(default_factory=Counter)

    @property
    def taken(self) -> int:
        """Lines whose battles are stored now, or were before."""
        return self.stored + self.completed + self.known + self.confirmed + self.duplicates

    def as_read(self) -> "Report":
        """What reading alone has told, for a log that is taken once more."""
        return replace(self, votes=0, voters=0, with_order=0, with_time=0, with_language=0)

    def refuse(self, file: str, line: int, reason: str) -> None:
        self.refused += 1
        if len(self.refusals) < MOST_SHOWN:
            self.refusals.append(Refused(file[-300:], line, reason[:300]))

    def warn(self, sentence: str) -> None:
        if sentence not in self.warnings and len(self.warnings) < MOST_SHOWN:
            self.warnings.append(sentence)

    def as_json(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if name != "tallies"}
