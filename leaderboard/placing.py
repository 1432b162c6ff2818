"""From a table of counts to rows: ratings, intervals, ranks, and the reasons where there are none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.ratings import Intervals, Ranks, Table, bootstrap, ranks, sandwich
from leaderboard.ratings.arrays import BoolArray, FloatArray
from leaderboard.ratings.scale import NORMAL
from leaderboard.standings import Row, share

FEW_BATTLES = "few_battles"
FEWEST = 5  # battles
WIDEST = 400.0  # Elo to one side: odds of ten to one
DRAWS = 2000  # of the probability of being the strongest: its standard error is at most 1.1 %
NO_SPREAD = 0.01  # Elo: a standard error below it means that every battle was a tie
SEED = 1
MOST_DRAWN = 3_000_000  # numbers of a bootstrap's tables, rounds × n²: under a second
MOST_ROUNDS = 1000
LEAST_ROUNDS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What happened to each contestant, n × n as in `Counts`."""

    table: Table
    both_bad: FloatArray
    consistent: FloatArray
    inconsistent: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Intervals, and what they say of ranks; has_few: those whose battles say too little, who have no rank."""

    intervals: Intervals
    ranks: Ranks
    has_few: BoolArray


def placed(intervals: Intervals, table: Table) -> Placed:
    """Ranks among those of whom enough is known. Few battles with others who are rated, a single sample, or an interval
    wider than ±400: too little is known. Who stands above the rated is surely there with as many battles as they need,
    those with others above them too.
    """
    rated = ~np.isnan(intervals.ratings.values)
    is_wide = NORMAL * np.nan_to_num(intervals.errors, nan=np.inf) > WIDEST
    has_few = rated & (is_wide | (_battles_with(rated, intervals, table) < FEWEST))
    is_known = _battles_with(rated | intervals.ratings.above, intervals, table) >= FEWEST
    told = replace(intervals, errors=np.where(has_few, np.nan, intervals.errors))
    return Placed(intervals, ranks(told, draws=DRAWS, seed=SEED, is_known=is_known), has_few)


def rows_of(tally: Tally, found: Placed, described: Mapping[str, Row]) -> list[Row]:
    """described: the row of each contestant by name, with what is no number. Those who stand highest come first."""
    component = found.intervals.ratings.component_of.tolist()
    fared = _fared(tally)
    rows = [
        replace(described[name], component=component[index], **fared[index], **_rated(found, index))
        for index, name in enumerate(tally.table.contestants)
    ]
    return sorted(rows, key=_sequence)


def rounds_for(size: int) -> int:
    """How many resamples there is time for while somebody waits."""
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_DRAWN // max(size, 1) ** 2))


def resampled(table: Table, closed: Intervals, rounds: int) -> Intervals:
    """The bootstrap's intervals, as many times as wide as the errors of `closed` are to those of independent battles.

    Ranks are told by those errors. Whom no resample moves has the closed form's interval.
    """
    alone, drawn, values = sandwich(table).errors, bootstrap(table, rounds, SEED), closed.ratings.values
    has_moved = alone > NO_SPREAD
    times = closed.errors / np.where(has_moved, alone, 1.0)
    lower = np.where(has_moved, values - times * (values - drawn.lower), closed.lower)
    upper = np.where(has_moved, values + times * (drawn.upper - values), closed.upper)
    return replace(closed, lower=lower, upper=upper)


def _battles_with(others: BoolArray, intervals: Intervals, table: Table) -> FloatArray:
    """How many battles each has with those others that are of its component."""
    component = intervals.ratings.component_of
    counted = others[None, :] & (component[:, None] == component[None, :])
    battles: FloatArray = (table.games * counted).sum(axis=1)
    return battles


def _fared(tally: Tally) -> list[dict[str, Any]]:
    """What happened to each contestant, in whole battles."""
    sums = [tally.table.wins.sum(axis=1), tally.table.wins.sum(axis=0)]
    sums += [matrix.sum(axis=1) for matrix in (tally.table.ties, tally.both_bad, tally.consistent, tally.inconsistent)]
    found = []
    for wins, losses, ties, both_bad, consistent, inconsistent in np.stack(sums, axis=1).astype(int).tolist():
        games = wins + losses + ties
        found.append(
            {
                "wins": wins,
                "losses": losses,
                "ties": ties,
                "both_bad": both_bad,
                "battles": games + both_bad,
                "win_rate": (wins + ties / 2) / games if games else None,
                "consistency": share(consistent, inconsistent),
            }
        )
    return found


def _rated(found: Placed, index: int) -> dict[str, Any]:
    intervals, order = found.intervals, found.ranks
    if reason := intervals.ratings.reasons[index]:
        return {"reason": str(reason)}
    if found.has_few[index]:
        return {"reason": FEW_BATTLES}
    return {
        "rating": round(float(intervals.ratings.values[index]), 6) + 0.0,
        "lower": _bound(intervals.lower[index]),
        "upper": _bound(intervals.upper[index]),
        "rank": int(order.rank[index]),
        "best": int(order.best[index]),
        "worst": int(order.worst[index]),
        "group": int(order.group[index]),
        "first": _bound(order.first[index]),
    }


def _bound(value: float) -> float | None:
    return round(float(value), 6) if math.isfinite(value) else None


def _sequence(row: Row) -> tuple[bool, int, float, float, str]:
    rating = -row.rating if row.rating is not None else 0.0
    return row.rating is None, row.component, rating, -(row.win_rate if row.win_rate is not None else -1.0), row.name
