"""Instruments, and the annotations that judges make with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena_lab.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentVersion(Record):
    """What an instrument asks. It never changes: a change is another version."""

    id: str
    number: int
    digest: str
    created: datetime
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument(Record):
    """owner None: it comes with the platform."""

    id: str
    slug: str = ""
    title: str
    description: str = ""
    owner: str | None
    project: str | None
    shared: bool
    archived: bool
    created: datetime
    newest: InstrumentVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation(Record):
    """What a judge found of one unit in one dimension. value None: none could be used, for `unscored_reason`."""

    id: str
    run: str
    message: str | None
    unit: str
    place: int
    turn: int | None
    subject: str = ""
    instrument: str
    version: str
    dimension: str
    value: Any
    found: bool | None
    unscored_reason: str = ""
    answered: bool
    citations: tuple[Mapping[str, Any], ...] = ()
    is_verified: bool | None
    rationale: str = ""
    confidence: float | None
    judge: str = ""
    person: str | None
    made_in: str | None
    call: str | None
    created: datetime
