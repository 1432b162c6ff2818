"""Battles, campaigns of them, ladders and datasets."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from arena_lab.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Record):
    """What the judge said in one order of the two outputs."""

    order: str
    winner: str = ""
    scores: Any = None
    confidence: float | None
    rationale: str = ""
    unread_reason: str = ""
    call: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Battle(Record):
    """left, right: contestants' names. winner: left, right, tie or both_bad; empty while it is open."""

    id: int
    board: str
    sample: int
    subset: str = ""
    index: int
    left: str
    right: str
    winner: str = ""
    is_consistent: bool | None
    open_reason: str = ""
    void_reason: str = ""
    experiment: str | None
    run: str | None
    judged: datetime | None
    verdicts: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Record):
    """How far a campaign is. A battle counts once for each judge."""

    wanted: int
    decided: int
    open: int
    under_way: int
    consistent_share: float | None
    per_minute: float | None
    eta_seconds: float | None
    cost: Decimal
    unpriced_calls: int = 0
    calls: int
    input_tokens: int
    output_tokens: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign(Record):
    """Battles of one experiment, over many runs. state: running, stopped, open, completed or failed."""

    experiment: str
    state: str
    note: str = ""
    seed: int
    created: datetime
    ended: datetime | None
    progress: Progress

    @property
    def is_over(self) -> bool:
        return self.state != "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderEntry(Record):
    """A ladder in the list."""

    slug: str
    title: str
    workflow: str
    dataset: str | None
    withdrawn_reason: str = ""
    battles: int
    computed: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Record):
    """rating, lower, upper: Elo with its 95 % interval; None with the `reason`. best, worst: the rank's interval.

    A contestant that won (lost) every battle has no rating, its one-sided bound in lower (upper), and a rank.
    """

    name: str
    label: str
    rating: float | None
    lower: float | None
    upper: float | None
    reason: str = ""
    rank: int | None
    best: int | None = None
    worst: int | None = None
    battles: int
    wins: int
    losses: int
    ties: int
    both_bad: int = 0
    win_rate: float | None
    consistency: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleCovariate(Record):
    """effect: Elo for one standard deviation, `unit`, with its 95 % interval; None with the `reason`. moved: whose
    rating moves most if this one is ignored, by `moves`.
    """

    name: str
    effect: float | None
    lower: float | None
    upper: float | None
    reason: str = ""
    unit: float = 0.0
    moved: str = ""
    moves: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedRating(Record):
    """A rating with style held equal, in Elo, with its 95 % interval; None with the `reason`."""

    name: str
    rating: float | None
    lower: float | None
    upper: float | None
    rank: int | None
    best: int | None = None
    worst: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleControl(Record):
    """battles: how many it rests on, of all. reason: why there is no adjusted rating; empty otherwise."""

    covariates: tuple[StyleCovariate, ...] = ()
    rows: tuple[AdjustedRating, ...] = ()
    battles: int
    of: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence(Record):
    """on: "prompts" or "voters", of which there are `units`. first, ranks: without how many of them, each by itself,
    another contestant is first, or any rank changes. name, before, after, moves: whose rank changes most.
    """

    on: str
    units: int
    first: int
    ranks: int
    name: str
    label: str = ""
    before: int
    after: int
    moves: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(Record):
    """A contestant that was withdrawn from the ratings, reinstated, or renamed from `before`. by: empty for readers
    without a token.
    """

    at: datetime
    what: str
    name: str
    label: str = ""
    reason: str = ""
    by: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchmakingRule(Record):
    """plan: "all", "sample" or "adaptive" of a campaign; "votes" of people here, "imported" battles."""

    plan: str
    pairs: str = "all"
    per_pair: int | None = None
    min_per_pair: int | None = None
    max_per_pair: int | None = None
    target_width: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matchmaking(Record):
    """How battles were chosen. least, most: of the battles, the shares that contestants are in, 0 to 1."""

    rules: tuple[MatchmakingRule, ...] = ()
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream(Record):
    """answers: that it gave."""

    name: str
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralUpstreams(Record):
    """A contestant, a judge or a model that several upstreams answered for, those with most answers first."""

    name: str
    label: str = ""
    upstreams: tuple[Upstream, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedSource(Record):
    """A board in a combined fit. weight: of each of its battles; None where verdicts correct votes."""

    slug: str
    title: str
    kind: str
    weight: float | None
    battles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedRatings(Record):
    """Ratings of people and judges in one fit. method: "pooled", each verdict counting as `weight` votes, or
    "corrected", ratings of people with `weight` (0 to 1) of the judges' correction. both: votes on judged outputs.
    """

    method: str
    weight: float | None
    sources: tuple[CombinedSource, ...] = ()
    rows: tuple[AdjustedRating, ...] = ()
    votes: int
    verdicts: int
    both: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenRating(AdjustedRating):
    """released: a day, empty where it is not known. battles: on unseen samples. moves: by how much the rating is higher
    than on all samples, with its 95 % interval.
    """

    released: str = ""
    battles: int = 0
    moves: float | None = None
    moves_lower: float | None = None
    moves_upper: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnseenRatings(Record):
    """Ratings from samples that were not public before either contestant was released. battles: on those; seen: on
    others; unknown: without a date of the sample or of a contestant. undated: how many of the `samples` have no date.
    """

    rows: tuple[UnseenRating, ...] = ()
    battles: int
    seen: int
    unknown: int
    of: int
    samples: int
    undated: int
    undated_samples: tuple[str, ...] = ()
    undated_contestants: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder(Record):
    """Where everybody stands. One that is withdrawn has no rows, and says why. style, combined, unseen: where
    `control`, `combine` or `unseen` asked for it.
    """

    slug: str
    title: str
    workflow: str
    dataset: str | None
    withdrawn_reason: str = ""
    battles: int
    computed: datetime
    subset: str = ""
    category: str = ""
    rows: tuple[Standing, ...] = ()
    style: StyleControl | None = None
    combined: CombinedRatings | None = None
    unseen: UnseenRatings | None = None
    dependence: tuple[Dependence, ...] = ()
    corrections: tuple[Correction, ...] = ()
    matchmaking: Matchmaking | None = None
    upstreams: tuple[SeveralUpstreams, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRating(Record):
    """A rating of a milestone with its 95 % interval, in Elo."""

    name: str
    rating: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestone(Record):
    """A ladder as it was published, never changed afterwards. version, date: the parts of its name."""

    name: str
    version: str
    date: str
    taken: datetime
    battles: int
    note: str = ""
    ratings: tuple[PublishedRating, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Point(Record):
    """What a contestant was rated at a time. lower, upper: the 95 % interval; None where it had no bound."""

    at: datetime
    occasion: str = ""
    name: str
    rating: float
    lower: float | None
    upper: float | None
    battles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset(Record):
    """state: waiting or reading until it is ready, or refused with `refused_reason`. progress: 0 to 1."""

    id: str
    slug: str
    name: str
    description: str = ""
    owner: str = ""
    modality: str = ""
    visibility: str = ""
    takes_votes: bool = False
    state: str
    refused_reason: str = ""
    progress: float | None
    created: datetime
    samples: int | None
    subsets: tuple[str, ...] = ()
    contestants: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
