"""Intervals of a board: battles of one sample are one observation, and nobody waits until a million are read."""

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.battles.sampled import shared_of
from experiments.models import Board
from leaderboard.counts import Counts
from leaderboard.models import Standing
from leaderboard.ratings import Intervals
from leaderboard.ratings.arrays import FloatArray
from leaderboard.ratings.fitting import Errors
from leaderboard.ratings.items import Shared, as_wide_as, by_items, times_as_wide

MOST_READ = 20_000  # battles while somebody waits, in less than a tenth of a second


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
    times = kept_widths([board], counts.table.contestants)
    if np.isfinite(times).any():
        return as_wide_as(counts.table, times, anchors=anchors, errors=errors)
    return by_items(counts.table, _shared(board, counts, subset, category), anchors=anchors, errors=errors)


def thorough(board: Board, counts: Counts, subset: str = "", category: str = "") -> tuple[Intervals, dict[str, float]]:
    """Intervals of a slice from all its battles, and how many times as wide samples make them, by name. The latter only
    where battles are so many that pages need it.
    """
    table, shared = counts.table, _shared(board, counts, subset, category)
    intervals = by_items(table, shared)
    if table.games.sum() <= 2 * MOST_READ:
        return intervals, {}
    found = zip(table.contestants, times_as_wide(table, shared).tolist(), strict=True)
    return intervals, {name: round(value, 3) for name, value in found if np.isfinite(value)}


def kept_widths(boards: Sequence[Board], names: Sequence[str]) -> FloatArray:
    """What workers have kept with the boards' ladders, the largest of each name; nan where nothing is."""
    times = np.full(len(names), np.nan)
    for known in Standing.objects.filter(ladder__board__in=boards).values_list("data__widths", flat=True):
        times = np.fmax(times, [(known or {}).get(name, np.nan) for name in names])
    return times


def _shared(board: Board, counts: Counts, subset: str, category: str) -> Shared:
    """The battles of a slice with their samples, of those who are in the counts."""
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    slices = {"subset": [subset] if subset else [], "category": [category] if category else []}
    return shared_of([board.pk], keys, counts.table.contestants, **slices)
