"""From battles to strengths: what is rated, on whose scale, and why the rest is not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table, as_table
from leaderboard.ratings.links import members
from leaderboard.ratings.scale import ELO, MEAN
from leaderboard.ratings.solution import Solution, solve
from leaderboard.ratings.undefined import Reason

Errors = Mapping[str, float] | FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A table in the sequence of names, and its solution. order: where each of that sequence stands in the given one.

    Everything is computed in the sequence of names, so that no result depends on the one that was given. fixed: the
    anchors' strengths in nats, nan for the others. rated: the group that is rated, by component (first members).
    """

    table: Table
    order: IntArray
    fixed: FloatArray
    solution: Solution
    rated: Mapping[int, int]

    @property
    def parts(self) -> list[IntArray]:
        """The members of each rated group."""
        return [np.flatnonzero(self.solution.groups == group) for _component, group in sorted(self.rated.items())]

    @property
    def is_fixed(self) -> BoolArray:
        return ~np.isnan(self.fixed)

    def reason(self, index: int) -> Reason | None:
        """Why the contestant has no finite rating, None for one that has."""
        group = self.rated.get(int(self.solution.components[index]))
        is_rated = group == self.solution.groups[index]
        return None if is_rated else _why_unrated(self.table.points, self.solution, index, group)

    def restored(self, values: FloatArray) -> FloatArray:
        """A vector in the sequence in which contestants were given."""
        given = np.empty_like(values)
        given[self.order] = values
        return given


def fitted(battles: Battles | Table, anchors: Mapping[str, float]) -> Fitted:
    """Fit all groups. Raises ValueError for an unknown anchor or one that is not finite."""
    table = as_table(battles)
    order = np.array(sorted(range(len(table.contestants)), key=table.contestants.__getitem__), dtype=np.int64)
    ordered = table.ordered(order)
    fixed = _anchor_strengths(ordered.contestants, anchors)
    solution = solve(ordered.points, fixed)
    return Fitted(ordered, order, fixed, solution, rated_groups(ordered.points, solution, fixed))


def anchor_covariance(contestants: tuple[str, ...], anchors: Mapping[str, float], errors: Errors | None) -> FloatArray:
    """The covariance of the anchors' ratings in nats², n × n, 0 for everybody else.

    errors: standard errors in Elo by name, those not named being known exactly; or a covariance in Elo² in the
    sequence of `anchors`. Raises ValueError for an error of somebody who is no anchor, below 0, or of another shape.
    """
    matrix = np.zeros((len(contestants), len(contestants)))
    places = {name: index for index, name in enumerate(contestants)}
    if isinstance(errors, Mapping):
        if set(errors) - set(anchors) or any(not 0 <= error < math.inf for error in errors.values()):
            raise ValueError("errors are those of anchors, finite and not below 0")
        for name, error in errors.items():
            matrix[places[name], places[name]] = (error / ELO) ** 2
    elif errors is not None:
        if errors.shape != (len(anchors), len(anchors)) or not np.isfinite(errors).all():
            raise ValueError("the anchors' covariance has one finite row and column per anchor")
        where = [places[name] for name in anchors]
        matrix[np.ix_(where, where)] = errors / ELO**2
    return matrix


def rated_groups(points: FloatArray, solution: Solution, fixed: FloatArray) -> dict[int, int]:
    """The group that is rated, by component: the anchors', else the largest, the busiest, the one above the most.

    A component where this leaves several, or whose groups are single contestants, has no rated group.
    """
    merits: dict[int, dict[int, tuple[float, ...]]] = {}
    for group in members(solution.groups):
        anchored = bool((~np.isnan(fixed[group])).any())
        if len(group) > 1 or anchored:
            busy, over = float(points[np.ix_(group, group)].sum()), int(solution.above[group[0]].sum())
            component = merits.setdefault(int(solution.components[group[0]]), {})
            component[int(group[0])] = (anchored, len(group), busy, over)
    best = {c: [g for g, merit in of.items() if merit == max(of.values())] for c, of in merits.items()}
    return {component: groups[0] for component, groups in best.items() if len(groups) == 1}


def _anchor_strengths(contestants: tuple[str, ...], anchors: Mapping[str, float]) -> FloatArray:
    if unknown := sorted(set(anchors) - set(contestants)):
        raise ValueError(f"anchors that are not contestants: {', '.join(unknown[:5])}")
    if not all(math.isfinite(rating) for rating in anchors.values()):
        raise ValueError("an anchor's rating is not a finite number")
    return np.array([(anchors[name] - MEAN) / ELO if name in anchors else np.nan for name in contestants])


def _why_unrated(points: FloatArray, solution: Solution, index: int, group: int | None) -> Reason:
    won, lost = bool(points[index].any()), bool(points[:, index].any())
    is_above = group is None or bool(solution.above[index, group])
    is_below = group is None or bool(solution.above[group, index])
    if not (won or lost):
        return Reason.NO_BATTLES
    if not lost and is_above:
        return Reason.UNDEFEATED
    if not won and is_below:
        return Reason.WINLESS
    if group is None or not (is_above or is_below):
        return Reason.UNLINKED
    return Reason.ABOVE if is_above else Reason.BELOW
