"""The lab around the runs: models, budgets, usage."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from arena_lab.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Model(Record):
    """A model of a provider. available: whether it can be asked now, by you."""

    slug: str
    label: str
    provider: str
    simulated: bool = False
    available: bool
    capabilities: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Record):
    """Dollars or tokens of a budget. left may be below zero."""

    limit: Decimal
    spent: Decimal
    reserved: Decimal
    left: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Record):
    """subject: a user name, or the id of a project or experiment. cost, tokens: None without such a limit."""

    id: str
    kind: str
    subject: str
    period: str
    cost: Part | None
    tokens: Part | None
    allows_unknown_prices: bool = False
    resets: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent(Record):
    """Where `unpriced` is not 0, cost is a lower bound. value: the person, project, model, role or day."""

    value: str
    calls: int
    lost: int = 0
    unpriced: int = 0
    input_tokens: int
    output_tokens: int
    cost: Decimal
    possible_cost: Decimal | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport(Record):
    """What was spent from one day to another, both included."""

    since: date
    until: date
    total: Spent
    person: tuple[Spent, ...]
    project: tuple[Spent, ...]
    model: tuple[Spent, ...]
    role: tuple[Spent, ...]
    day: tuple[Spent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Favorite(Record):
    """kind: run, board or contestant. key: the id of a run, the slug of a board, the name of a contestant."""

    id: str
    kind: str
    key: str
    created: datetime
