"""What is compared in the end, as plain values: what the provider, the proxy, the viewers and we have written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Served:
    """A request as the provider has it in its ledger."""

    request_id: str
    outcome: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A request as the proxy has seen it. texts: when which text was handed on, in unix seconds. left: when the client
    had gone before the end.
    """

    request_id: str
    fault: str = ""
    forwarded: bool = True
    whole: bool = False
    left: float | None = None
    texts: Sequence[tuple[float, str]] = ()

    @property
    def text(self) -> str:
        return "".join(text for _at, text in self.texts)

    def text_until(self, moment: float) -> str:
        return "".join(text for at, text in self.texts if at <= moment)


@dataclass(frozen=True, slots=True)
class Called:
    """A call as the platform has recorded it. cost: what it counts, None where nobody knows; reserved likewise.
    caller_died: whether it was lost with its caller.
    """

    id: str
    step: str
    attempt: int
    state: str
    purpose: str = "reply"
    text: str = ""
    error_kind: str = ""
    output_tokens: int | None = None
    is_estimated: bool = False
    cost: Decimal | None = None
    cost_source: str = ""
    reserved: Decimal | None = None
    caller_died: bool = False


@dataclass(frozen=True, slots=True)
class Stepped:
    key: str
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class Played:
    """A run with its record. events: digest by number. messages: text by id, as rows have it; told: as the events do.
    page, replay: what the page shows, by anchor, made from rows and from events. unled: seconds without a live lease
    while it was to be driven.
    """

    id: str
    workflow: str
    state: str
    reason: str = ""
    last_seq: int = 0
    is_waiting_by_design: bool = False
    has_lease: bool = False
    events: Mapping[int, str] = field(default_factory=dict)
    steps: Sequence[Stepped] = ()
    calls: Sequence[Called] = ()
    messages: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    page: Mapping[str, str] = field(default_factory=dict)
    replay: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """A viewer's screen in the end."""

    run: str
    events: Mapping[int, str]
    texts: Mapping[str, str]
    messages: Mapping[str, str]
    gaps: int = 0
    joins: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """A period of a budget. counted: ids of the calls that are counted in it."""

    name: str
    limit: Decimal | None
    earlier: Decimal
    spent: Decimal
    reserved: Decimal
    counted: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A ladder: what is shown, and what follows from the record now. wrong: counts of pairs that differ."""

    name: str
    shown: str
    recomputed: str
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """away: intervals (unix seconds) in which the database could not be written, or a worker stood still."""

    runs: Sequence[Played]
    served: Sequence[Served] = ()
    passed: Sequence[Passed] = ()
    screens: Sequence[Seen] = ()
    accounts: Sequence[Account] = ()
    ladders: Sequence[Shown] = ()
    votes: Mapping[int, str] = field(default_factory=dict)
    away: Sequence[tuple[float, float]] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calls(self) -> list[Called]:
        return [call for run in self.runs for call in run.calls]
