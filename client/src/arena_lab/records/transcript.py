"""What was said and found in a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from arena_lab.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Tokens of one call; None where the provider did not say."""

    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered(Record):
    """What the filter did with a message. confidence: 0 to 1."""

    changed: bool
    removed: tuple[str, ...] = ()
    confidence: float | None
    reasoning: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Record):
    """One utterance. raw_text: as it was produced; text: as the others see it."""

    id: str
    turn: int | None
    seat: str
    purpose: str = ""
    model: str = ""
    text: str
    raw_text: str
    parsed: Any = None
    reasoning: str = ""
    filter: Filtered | None
    logprobs: Any = None
    finish_reason: str = ""
    flags: Any = ()
    operator: Any = None
    superseded: bool = False
    usage: Usage | None
    cost: Decimal | None
    call: str | None
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment(Record):
    """What a judge found about `subject`. scores None: there are none, and `unscored_reason` says why. saw: what the
    judge was shown, `messages` (filtered, original or both) and `reasoning` (off, none or shown).
    """

    id: str
    turn: int | None
    subject: str
    judge: str
    judge_seat: str = ""
    scores: Mapping[str, Any] | None
    unscored_reason: str = ""
    rationale: str = ""
    dynamics: str = ""
    confidence: float | None
    flags: Any = ()
    saw: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot(Record):
    """How a member ranked the answers. order: groups of seats, best first; None for an abstention."""

    id: str
    turn: int
    count: int = 1
    reviewer: str
    model: str = ""
    labels: Mapping[str, str]
    order: tuple[tuple[str, ...], ...] | None
    abstained_reason: str = ""
    flags: Any = ()
    reading: str = ""
    superseded: bool = False
    call: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Record):
    """One attempt at a provider: what was sent, what came back, what it cost. seconds: how long it took."""

    id: str
    step: str
    seat: str = ""
    turn: int | None
    purpose: str = ""
    attempt: int = 1
    state: str
    model: str
    simulated: bool = False
    request: Any = None
    text: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    error_kind: str = ""
    error: str = ""
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    reserved: Decimal | None
    cost: Decimal | None
    sent: datetime | None
    first_byte_seconds: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution(Record):
    """What the sandbox said about a piece of code. passed: tests passed; None while nothing was run."""

    id: str
    key: str
    purpose: str = ""
    turn: int | None
    seat: str = ""
    state: str
    language: str = ""
    code: str
    tests: Any = None
    results: Any = None
    passed: int | None
    complaint: str = ""
    seconds: float | None
    error_kind: str = ""
    error: str = ""
    created: datetime
    ended: datetime | None
