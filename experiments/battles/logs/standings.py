"""Ratings beside logs, in the shapes of GenArena's elo_snapshot.json and state.json."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from experiments.battles.logs.exporting import stamp
from leaderboard.ratings import Table, sandwich

ROUNDED = 6
SCALE = {"scale": 400.0, "base": 10.0, "init_rating": 1000.0}


class Count(NamedTuple):
    """So many battles of a pair ended like this. winner: left, right or tie."""

    left: str
    right: str
    winner: str
    battles: int


def snapshot(experiment: str, counts: Iterable[Count], last: datetime | None) -> dict[str, Any]:
    """All battles up to and including an experiment's. Who has no finite rating is named with the reason."""
    table = table_of(counts)
    intervals = sandwich(table)
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


def state(counts: Iterable[Count], last: datetime | None) -> dict[str, Any]:
    """Where everybody stands."""
    kept = list(counts)
    taken = snapshot("", kept, last)
    models: dict[str, dict[str, Any]] = {}
    for count in kept:
        outcomes = {"left": ("wins", "losses"), "right": ("losses", "wins")}.get(count.winner, ("ties", "ties"))
        for name, outcome in zip((count.left, count.right), outcomes, strict=True):
            row = models.setdefault(name, {"elo": taken["elo"].get(name), "wins": 0, "losses": 0, "ties": 0})
            row[outcome] += count.battles
    for name, row in models.items():
        row |= {f"ci_{side}": taken[f"ci_{side}"].get(name) for side in ("lower", "upper")}
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
