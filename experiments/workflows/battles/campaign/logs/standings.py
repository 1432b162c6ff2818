"""Ratings beside logs, in the shapes of GenArena's elo_snapshot.json and state.json."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from experiments.workflows.battles.campaign.logs.exporting import stamp
from leaderboard.ratings import Battles, Shared, Table, by_items

ROUNDED = 6
SCALE = {"scale": 400.0, "base": 10.0, "init_rating": 1000.0}


class Count(NamedTuple):
    """So many battles of a pair ended like this. winner: left, right or tie."""

    left: str
    right: str
    winner: str
    battles: int


class Met(NamedTuple):
    """The counts' battles one by one: sample, keys of who stood left and right, twice the left one's score. names: by
    key.
    """

    rows: NDArray[np.int64]
    names: Mapping[int, str]

    def shared(self, table: Table) -> Shared:
        """With the table's contestants, in its sequence."""
        place = {name: number for number, name in enumerate(table.contestants)}
        places = np.full(max(self.names, default=0) + 1, -1, dtype=np.int64)
        for key, name in self.names.items():
            places[key] = place.get(name, -1)
        samples, left, right, doubled = self.rows.T
        return Shared(Battles(places[left], places[right], doubled / 2, table.contestants), samples)


class Snapshot(TypedDict):
    """elo_snapshot.json; figures by the contestant's name."""

    exp_name: str
    generated_at: str | None
    params: dict[str, float]
    model_count: int
    battle_count: int
    elo: dict[str, float]
    ci_lower: dict[str, float]
    ci_upper: dict[str, float]
    ci_width: dict[str, float]
    std: dict[str, float]
    num_bootstrap: int
    intervals: str
    unrated: dict[str, str]


def snapshot(experiment: str, counts: Iterable[Count], met: Met, last: datetime | None) -> Snapshot:
    """All battles up to and including an experiment's. Who has no finite rating is named with the reason."""
    table = table_of(counts)
    intervals = by_items(table, met.shared(table))
    ratings = _by_name(table, intervals.ratings.values)
    bounds = {side: _by_name(table, getattr(intervals, side)) for side in ("lower", "upper")}
    widths = {
        name: bounds["upper"][name] - bounds["lower"][name] for name in bounds["lower"] if name in bounds["upper"]
    }
    reasons = zip(intervals.ratings.contestants, intervals.ratings.reasons, strict=True)
    return {
        "exp_name": experiment,
        "generated_at": stamp(last),
        "params": SCALE,
        "model_count": len(table.contestants),
        "battle_count": int(table.games.sum() / 2),
        "elo": ratings,
        "ci_lower": bounds["lower"],
        "ci_upper": bounds["upper"],
        "ci_width": {name: round(width, ROUNDED) for name, width in widths.items()},
        "std": _by_name(table, intervals.errors),
        "num_bootstrap": 0,
        "intervals": "sandwich",
        "unrated": {name: reason.sentence for name, reason in reasons if reason},
    }


def state(counts: Iterable[Count], met: Met, last: datetime | None) -> dict[str, object]:
    """Where everybody stands."""
    kept = list(counts)
    taken = snapshot("", kept, met, last)
    models: dict[str, dict[str, Any]] = {}
    for count in kept:
        outcomes = {"left": ("wins", "losses"), "right": ("losses", "wins")}.get(count.winner, ("ties", "ties"))
        for name, outcome in zip((count.left, count.right), outcomes, strict=True):
            row = models.setdefault(name, {"elo": taken["elo"].get(name), "wins": 0, "losses": 0, "ties": 0})
            row[outcome] += count.battles
    for name, row in models.items():
        row |= {"ci_lower": taken["ci_lower"].get(name), "ci_upper": taken["ci_upper"].get(name)}
    return {
        "models": dict(sorted(models.items())),
        "unrated": taken["unrated"],
        "total_battles": taken["battle_count"],
        "last_updated": stamp(last),
    }


def table_of(counts: Iterable[Count]) -> Table:
    kept = list(counts)
    names = tuple(sorted({name for count in kept for name in (count.left, count.right)}))
    places: Mapping[str, int] = {name: place for place, name in enumerate(names)}
    wins, ties = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    for count in kept:
        left, right = places[count.left], places[count.right]
        if count.winner == "left":
            wins[left, right] += count.battles
        elif count.winner == "right":
            wins[right, left] += count.battles
        else:
            ties[left, right] += count.battles
            ties[right, left] += count.battles
    return Table(wins, ties, names)


def _by_name(table: Table, values: Any) -> dict[str, float]:
    """Only what is a finite number."""
    pairs = zip(table.contestants, values.tolist(), strict=True)
    return {name: round(value, ROUNDED) for name, value in pairs if np.isfinite(value)}
