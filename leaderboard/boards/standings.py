"""The standings of a ladder, as a value: what pages, files and the API show, and what `Standing.data` keeps."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from django.db.models import Q

from experiments.workflows.coding.pages.rated import RunRatings
from leaderboard.boards.periods import Period
from leaderboard.models import Ladder

SHAPE = 8  # of the stored JSON; a standing of another shape is computed anew
CLUSTER_ROBUST, BOOTSTRAP = "cluster_robust", "bootstrap"  # clusters are samples, questions or cycles


class Slice(NamedTuple):
    """Which battles of a board, each word empty for all. source: where the prompts of their samples come from;
    language: in which they are; period: when they were decided, see `Period`.
    """

    subset: str = ""
    category: str = ""
    source: str = ""
    language: str = ""
    period: str = ""

    @property
    def chosen(self) -> dict[str, str]:
        return {name: word for name, word in self._asdict().items() if word}

    @property
    def battles(self) -> Q:
        """Which battles these are. Raises Invalid for a period that cannot be read."""
        of_samples = {f"sample__{name}": word for name, word in self._replace(period="").chosen.items()}
        return Q(**of_samples) & Period.read(self.period).battles


WHOLE = Slice()


@dataclass(frozen=True, slots=True)
class Row:
    """One contestant. contestant: its key, None on a ladder of models. rating, lower, upper: Elo and its 95 % interval.

    reason: why there is no rank, or no rating, a key of `figures.REASONS`; empty for those rated. A bound is None where
    it is infinite; who has won or lost everything has no rating, and the one-sided bound of `ratings.OneSided` alone.
    rank, best, worst: the rank and its 95 % interval, within the component; group: those who cannot be distinguished
    from its highest; first: the probability of being the strongest, 0 to 1. battles: all that are decided, both_bad
    among them, which no rating counts. win_rate: ties half. consistency: the share judged alike in both orders, None
    where nothing is judged twice.
    """

    name: str
    label: str
    link: str = ""
    contestant: int | None = None
    version: str = ""
    is_simulated: bool = False
    component: int = 0
    rating: float | None = None
    lower: float | None = None
    upper: float | None = None
    reason: str = ""
    rank: int | None = None
    best: int | None = None
    worst: int | None = None
    group: int | None = None
    first: float | None = None
    battles: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0
    both_bad: int = 0
    win_rate: float | None = None
    consistency: float | None = None

    @property
    def shown(self) -> str:
        """A badge says what is simulated, and not the name as well."""
        label = self.label or self.name
        return label.rpartition(" · ")[2] if self.is_simulated else label


@dataclass(frozen=True, slots=True)
class Excluded:
    """A contestant that is left out with all its battles, and why."""

    name: str
    label: str
    reason: str
    battles: int


@dataclass(frozen=True, slots=True)
class Standings:
    """A ladder, or a slice of it. changes: the board's number when its counts were read. periods: months, newest first.

    rows: those with a rank by component and rank, then those without. method: of the intervals, CLUSTER_ROBUST or
    BOOTSTRAP with its rounds and seed. consistent, inconsistent: battles that were judged in both orders. rests_on:
    what a ladder of runs is made of, changed with it. contest: the other boards of a ladder of coding, without their
    history. widths: how many times as wide samples make the intervals of a board, by contestant; None where nothing
    can be said.
    """

    changes: int
    subset: str = ""
    category: str = ""
    source: str = ""
    language: str = ""
    period: str = ""
    subsets: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    periods: tuple[str, ...] = ()
    battles: int = 0
    ties: int = 0
    both_bad: int = 0
    consistent: int = 0
    inconsistent: int = 0
    components: int = 0
    rows: tuple[Row, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    method: str = CLUSTER_ROBUST
    rounds: int = 0
    seed: int = 0
    rests_on: str = ""
    contest: RunRatings | None = None
    widths: dict[str, float | None] = field(default_factory=dict)
    shape: int = field(default=SHAPE)

    @property
    def rated(self) -> tuple[Row, ...]:
        return tuple(row for row in self.ranked if row.rating is not None)

    @property
    def ranked(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.rank is not None)

    @property
    def judged_twice(self) -> int:
        return self.consistent + self.inconsistent

    @property
    def slice(self) -> Slice:
        return Slice(self.subset, self.category, self.source, self.language, self.period)

    @property
    def consistency(self) -> float | None:
        return share(self.consistent, self.inconsistent)

    def as_json(self) -> dict[str, object]:
        """Plain lists and dictionaries, the same after being written and read."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), allow_nan=False))
        return plain

    @classmethod
    def stored(cls, ladder: Ladder) -> "Standings | None":
        """What was computed last, None where nothing was, or in another shape."""
        return cls.from_json(ladder.stored.data) if ladder.stored else None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Standings | None":
        """What `as_json` gave, None for another shape."""
        if data.get("shape") != SHAPE:
            return None
        rows = tuple(Row(**row) for row in data["rows"])
        excluded = tuple(Excluded(**one) for one in data["excluded"])
        slices = {name: tuple(data[name]) for name in ("subsets", "categories", "sources", "languages", "periods")}
        contest = RunRatings.from_json(data["contest"]) if data.get("contest") else None
        return cls(**{**data, **slices, "rows": rows, "excluded": excluded, "contest": contest})


def finite(value: float) -> float | None:
    """To six digits; None where there is no number, or none that is finite."""
    return round(float(value), 6) + 0.0 if math.isfinite(value) else None


def share(part: int, rest: int) -> float | None:
    """part of part and rest, 0 to 1; None of nothing."""
    return part / (part + rest) if part + rest else None
