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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Record):
    """A share or a mean. low, high: its 95 % interval. units: how many labels it rests on, in so many runs. value None:
    there is no number, and `undefined` says why.
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    runs: int
    undefined: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate(Record):
    """A rate or a mean by one judge. name: of a dimension, or `dimension.choice`. raw: as the judge gives it.
    corrected: by people's labels. rogan_gladen: by sensitivity and specificity; None of a mean.
    """

    name: str
    title: str
    judge: str
    units: int
    labels: int
    raw: Rate
    corrected: Rate
    rogan_gladen: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRates(Record):
    """scan: the experiment that judged."""

    scan: str
    title: str
    units: int
    labeled: int
    rates: tuple[CorrectedRate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentCard(Record):
    """How far a version agrees with people. quantities: agreement, tables of labels, precision and recall. missing:
    what keeps it from saying more.
    """

    labels: int
    units: int
    people: int
    quantities: tuple[Mapping[str, Any], ...] = ()
    scans: tuple[ScanRates, ...] = ()
    disagreements: tuple[Mapping[str, Any], ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Record):
    """A review queue. places, answers: one for each person that an item is to have."""

    id: str
    name: str
    over: str
    state: str
    is_blind: bool
    members: tuple[str, ...] = ()
    items: int
    places: int
    answers: int
    sample: Mapping[str, Any]
