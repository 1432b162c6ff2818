"""How far ratings and ranks depend on single voters, or on single prompts: what changes without each of them.

Leaving one cluster of battles out moves strengths by -H⁻¹ s to first order, s being the cluster's part of the gradient
(the infinitesimal jackknife; Efron, "The jackknife, the bootstrap and other resampling plans", 1982; for rankings Huang
et al., "Dropping just a handful of preferences can change top large language model rankings", 2025). The clusters that
matter most are then really left out, and so are all where they are few.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.bradley_terry import Ratings, fit, fitted, information
from leaderboard.ratings.intervals import bread, sides, surprises
from leaderboard.ratings.values import ELO, MEAN, Battles, BoolArray, FloatArray, IntArray, Table, tally

MOST_FITTED = 24  # clusters that are really left out; where there are more, those that matter most to first order
FEW, LEAST_FITTED = 50, 4  # of more contestants than these, fewer clusters, but never fewer than four
MOST_CELLS = 8_000_000  # of the table clusters × contestants


@dataclass(frozen=True, slots=True)
class Influence:
    """clusters: how many there are. first: without how many of them, each by itself, another contestant is first; any:
    without how many any rank changes. cluster: the one (its label) without which a rank changes most, or else a rating;
    contestant, before, after: whose rank that is; moves: by how many points its rating moves; nan where it is then
    without one.
    """

    clusters: int
    first: int
    any: int
    cluster: int
    contestant: str
    before: int
    after: int
    moves: float


def influence(battles: Battles, clusters: ArrayLike) -> Influence | None:
    """Of the largest rated group. clusters: one whole number per battle. None for fewer than two clusters, without a
    rated group, and for more clusters × contestants than MOST_CELLS.
    """
    found = fitted(battles, {})
    labels, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    numbers = numbers.reshape(-1)
    if len(labels) < 2 or not found.parts:
        return None
    part = max(found.parts, key=len)
    size = len(part)
    if len(labels) * size > MOST_CELLS:
        return None
    strengths = found.solution.strengths[part]
    left, right, inside = sides(found, part, battles)
    cluster, surprise = numbers[inside], surprises(strengths, left, right, battles.score[inside])
    cells = len(labels) * size
    rows = cluster * size
    gradient = np.bincount(rows + left, surprise, cells) - np.bincount(rows + right, surprise, cells)
    points = found.table.points[np.ix_(part, part)]
    moved = -gradient.reshape(-1, size) @ bread(information(points, strengths), np.arange(size))
    before = ranks_of(strengths)
    after = np.stack([ranks_of(one) for one in strengths + moved])
    turned = np.abs(after - before).max(axis=1)
    candidates = np.lexsort((-np.abs(moved).max(axis=1), -turned))[
        : max(MOST_FITTED * FEW // max(size, FEW), LEAST_FITTED)
    ]
    whole, names = tally(battles), [battles.contestants[index] for index in found.order[part]]
    shifts = ELO * moved
    for number in candidates.tolist():
        values = _without(battles, whole, numbers == number)[found.order[part]]
        after[number], is_rated = ranks_of(values), np.isfinite(values)
        shifts[number] = np.where(is_rated, values - MEAN - ELO * strengths, np.nan)
    turned = np.abs(after - before)
    sizes = np.nan_to_num(np.abs(shifts))
    most = int(np.lexsort((-sizes.max(axis=1), -turned.max(axis=1)))[0])
    who = int(turned[most].argmax() if turned[most].any() else sizes[most].argmax())
    top = int(before.argmin())
    return Influence(
        clusters=len(labels),
        first=int((after[:, top] > 1).sum()),
        any=int((turned.max(axis=1) > 0).sum()),
        cluster=int(labels[most]),
        contestant=names[who],
        before=int(before[who]),
        after=int(after[most, who]),
        moves=float(shifts[most, who]),
    )


def ranks_of(values: FloatArray) -> IntArray:
    """1 for the highest; equals share a rank. Who is infinitely high or low is first or last."""
    return np.asarray(1 + (values[None, :] > values[:, None] + 1e-9).sum(axis=1), dtype=np.int64)


def _without(battles: Battles, whole: Table, is_out: BoolArray) -> FloatArray:
    """Ratings without some battles: infinite for who is then above or below all that are rated, or has none left."""
    out = tally(Battles(battles.left[is_out], battles.right[is_out], battles.score[is_out], battles.contestants))
    ratings: Ratings = fit(Table(whole.wins - out.wins, whole.ties - out.ties, whole.contestants))
    values = np.where(ratings.above, np.inf, ratings.values)
    return np.where(np.isnan(values), -np.inf, values)
