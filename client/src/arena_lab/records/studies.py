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


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAmounts(Record):
    """Of all runs together; cost in US dollars, None where a price is not known."""

    calls: int
    tokens: int
    cost: Decimal | None
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySize(Record):
    """visible: by kind of contrast, the difference that so many repeats can see; None where there is none."""

    repeats: int
    runs: int
    per_side: int
    visible: Mapping[str, float | None]
    amounts: StudyAmounts


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySizes(Record):
    """kinds: rate, mixed, time, score or diversity. needed: repeats by kind; None for more than a study can have."""

    kinds: tuple[str, ...]
    needed: Mapping[str, int | None]
    sizes: tuple[StudySize, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDifference(Record):
    """With its 95 % interval; of a rate as a share, -1 to 1."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledStudies(Record):
    """value, low, high: by Paule and Mandel with the interval of Hartung, Knapp, Sidik and Jonkman. predicted: where a
    further study would lie, None below three.
    """

    studies: int
    value: float
    low: float
    high: float
    tau2: float
    q: float
    i2: float
    by_dl: StudyDifference
    dl_tau2: float
    predicted: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyContrast(Record):
    """What one study says of a contrast. levels, n: of the first and the second side. missing: why no difference."""

    study: str
    levels: tuple[Mapping[str, str], ...]
    n: tuple[int, ...]
    difference: StudyDifference | None
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedContrast(Record):
    """not_pooled: why there is no summary: one_study, no_spread, scale, source, scope, provider or until."""

    contrast: str
    estimates: tuple[StudyContrast, ...]
    pooled: PooledStudies | None
    not_pooled: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyComparison(Record):
    """studies, waiting: ids; waiting are those that are not analyzed yet. traits: {name, values} of the designs."""

    outcome: str
    outcomes: tuple[str, ...]
    contrasts: tuple[ComparedContrast, ...]
    traits: tuple[Mapping[str, Any], ...]
    studies: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignDifference(Record):
    """From the first campaign, on the prompts that both have. missing: why nothing is said."""

    prompts: int
    difference: StudyDifference | None
    p: float | None
    missing: str = ""
    adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignWinRate(Record):
    """rate: the mean over prompts of the share of battles won, ties half, with its 95 % interval. against: None of the
    first campaign.
    """

    experiment: str
    title: str
    battles: int
    prompts: int
    rate: float | None
    low: float | None
    high: float | None
    against: CampaignDifference | None
