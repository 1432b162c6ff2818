"""Strengths of everybody, group by group: what the battles say, and where they say nothing."""

from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.links import groups_of, members, reach
from leaderboard.ratings.newton import maximise


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The likelihood's maximum in the wider sense: differences between groups may be infinite or unknown.

    groups: contestants linked by wins in both directions have finite differences; each group has a scale of its own
    (mean 0 nats; the anchors' group has the anchors'). components: linked by battles at all. above[i, j]: wins lead
    from i to j and never back, so that i is infinitely far above j. Groups are named by their first member's index.
    """

    strengths: FloatArray
    groups: IntArray
    components: IntArray
    above: BoolArray

    def stands_above(self, tolerance: float) -> BoolArray:
        """[i, j]: i is above j, in another group or by more than the tolerance (nats) within one."""
        same = self.groups[:, None] == self.groups[None, :]
        higher = self.strengths[:, None] - self.strengths[None, :] > tolerance
        above: BoolArray = self.above | (same & higher)
        return above


def solve(points: FloatArray, anchors: FloatArray | None = None) -> Solution:
    """Fit each group of contestants by itself.

    points[i, j]: wins of i over j and half the ties, n × n. anchors: strengths in nats that are fixed, nan for the
    rest; anchors are on one scale, so they are one group whether or not they met.
    """
    fixed = np.full(len(points), np.nan) if anchors is None else anchors
    is_fixed = ~np.isnan(fixed)
    anchored = np.logical_and.outer(is_fixed, is_fixed)
    edges = (points > 0) | anchored
    paths = reach(edges)
    groups = groups_of(paths & paths.T)
    strengths = np.zeros(len(points))
    for group in members(groups):
        strengths[group] = _fitted(points[np.ix_(group, group)], fixed[group])
    return Solution(strengths, groups, groups_of(reach(edges | edges.T)), paths & ~paths.T)


def _fitted(points: FloatArray, fixed: FloatArray) -> FloatArray:
    is_fixed = ~np.isnan(fixed)
    start = np.where(is_fixed, fixed, fixed[is_fixed].mean() if is_fixed.any() else 0.0)
    return maximise(points, start, is_fixed) if len(points) > 1 else start
