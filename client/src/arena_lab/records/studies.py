"""Studies: designed sets of runs, their plans, and what was seen of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from arena_lab.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan(Record):
    """number 1: as it was locked; further ones are amendments. digest: SHA-256 of plan and design."""

    number: int
    content: Mapping[str, Any]
    digest: str
    reason: str = ""
    runs_seen: int
    by: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Study(Record):
    """state: draft, locked, running, paused, stopped or completed. spent: US dollars, as far as costs are known."""

    id: str
    title: str
    owner: str
    state: str
    note: str = ""
    design: Mapping[str, Any]
    plan: Any
    plans: tuple[StudyPlan, ...]
    at_once: int
    cost_limit: Decimal | None
    planned: int
    begun: int
    ended: int
    spent: Decimal
    created: datetime
    started: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun(Record):
    """number: its place in the random order. run, state: None until it is begun."""

    number: int
    condition: int
    levels: Mapping[str, str]
    repeat: int
    seed: int
    experiment: str
    run: str | None
    state: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLook(Record):
    """An analysis as it was seen. share: of the planned runs that had ended. results: {shares, results}."""

    number: int
    plan: int
    ended: int
    share: float
    results: Mapping[str, Any]
    by: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRuns(Record):
    runs: tuple[PlannedRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyLooks(Record):
    looks: tuple[StudyLook, ...]
