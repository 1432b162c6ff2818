"""Intervals of a board: battles of one sample are one observation, and nobody waits until a million are read."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite, isnan, nan

import numpy as np

from experiments.models import Board
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards.counts import Counts
from leaderboard.boards.standings import SHAPE
from leaderboard.models import Standing
from leaderboard.ratings import Intervals
from leaderboard.ratings.bradley_terry import Errors
from leaderboard.ratings.intervals import Shared, as_wide_as, by_items, times_as_wide
from leaderboard.ratings.values import FloatArray

MOST_READ = 20_000  # battles while somebody waits, in less than a tenth of a second
MOST_KEPT = 1_000_000  # battles for what is kept for good, in a few seconds
Widths = dict[str, float | None]  # how many times as wide, by name; None where nothing can be said


def intervals_of(
    board: Board,
    counts: Counts,
    subset: str = "",
    category: str = "",
    *,
    anchors: Mapping[str, float] | None = None,
    errors: Errors | None = None,
) -> Intervals:
    """Intervals of a slice of the board for somebody who waits: of one that has many battles it is not read anew how
    much wider samples make intervals; that is as it was for the ladder when a worker last computed it.
    """
    table = counts.table
    if to_read(counts) > MOST_READ:
        return as_wide_as(table, kept_widths([board], table.contestants), anchors=anchors, errors=errors)
    return by_items(table, _shared(board, counts, subset, category), anchors=anchors, errors=errors)


def lasting(board: Board, counts: Counts) -> Intervals:
    """Intervals for what is kept for good: from all battles of the board, while they can be read in a few seconds."""
    if to_read(counts) > MOST_KEPT:
        return intervals_of(board, counts)
    return by_items(counts.table, _shared(board, counts, "", ""))


def thorough(board: Board, counts: Counts, subset: str = "", category: str = "") -> tuple[Intervals, Widths]:
    """Intervals of a slice from all its battles, and how many times as wide samples make them, by name."""
    table = counts.table
    intervals = by_items(table, _shared(board, counts, subset, category))
    found = zip(table.contestants, times_as_wide(table, intervals).tolist(), strict=True)
    return intervals, {name: round(v, 3) if isfinite(v) else None for name, v in found if not isnan(v)}


def to_read(counts: Counts) -> float:
    """How many battles are read for the intervals of what was counted, those of contestants that are left out too."""
    return float(counts.table.games.sum()) / 2 + sum(counts.excluded.values())


def kept_widths(boards: Sequence[Board], names: Sequence[str]) -> FloatArray:
    """What workers have kept with the boards' ladders, the largest of each name; inf where nothing can be said of it,
    nan where it is new.
    """
    standings = Standing.objects.filter(ladder__board__in=boards, data__shape=SHAPE)
    kept = list(standings.values_list("data__widths", flat=True))
    return np.array([_largest([widths[name] for widths in kept if name in widths]) for name in names], dtype=np.float64)


def _largest(widths: Sequence[float | None]) -> float:
    return max((width for width in widths if width is not None), default=inf if widths else nan)


def _shared(board: Board, counts: Counts, subset: str, category: str) -> Shared:
    """The battles of a slice with their samples, of those who are in the counts."""
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    slices = {"subset": [subset] if subset else [], "category": [category] if category else []}
    return shared_of([board.pk], keys, counts.table.contestants, **slices)
