"""Bradley-Terry ratings on the scale of Elo: the maximum-likelihood strengths of contestants, ties as half wins.

p(i beats j) = 1 / (1 + exp(strength j - strength i)), strengths in nats; a rating is 1000 + 400 / ln 10 · strength.
Sources: Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 39 (1952); Ford, "Solution of a
ranking problem from binary comparisons", Amer. Math. Monthly 64 (1957) for when the maximum exists.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from leaderboard.ratings.values import ELO, MEAN, Battles, BoolArray, FloatArray, IntArray, Reason, Table, tally

MOST_STEPS = 200
MOST_HALVINGS = 60
FINE = 1e-9  # nats; the last step is taken, and convergence is quadratic
FAR = 600.0  # nats; exp of more is beyond floating point
COARSE = 0.3  # nats; within a smaller step curvature less than doubles, e^(2 · 0.3) < 2, and the likelihood rises


class NotConverged(ArithmeticError):
    """The likelihood's maximum was not found; the table is not connected, or its numbers are beyond floating point."""


# --- who can be compared with whom ---


def reach(edges: BoolArray) -> BoolArray:
    """[i, j]: a path of edges leads from i to j; everyone reaches themselves. By squaring until nothing is added."""
    paths = edges | np.eye(len(edges), dtype=bool)
    while not paths.all():
        steps = paths.astype(np.float32)
        longer: BoolArray = steps @ steps > 0
        if (longer == paths).all():
            break
        paths = longer
    return paths


def groups_of(mutual: BoolArray) -> IntArray:
    """The group of each under an equivalence relation, as the index of the group's first member."""
    return np.argmax(mutual, axis=1) if len(mutual) else np.zeros(0, dtype=np.int64)


def members(groups: IntArray) -> list[IntArray]:
    """The indices of each group's members, in the sequence of first members."""
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


# --- the maximum of the likelihood, by Newton's method ---


def chances(strengths: FloatArray) -> FloatArray:
    """Probability that i beats j, n × n: 1 / (1 + exp(strength j - strength i))."""
    if np.ptp(strengths) < FAR:  # without n × n exponentials
        odds = np.exp(strengths - strengths.mean())
        shares: FloatArray = odds[:, None] / (odds[:, None] + odds[None, :])
        return shares
    with np.errstate(over="ignore"):
        probabilities: FloatArray = 1.0 / (1.0 + np.exp(strengths[None, :] - strengths[:, None]))
    return probabilities


def laplacian(weights: FloatArray) -> FloatArray:
    """The matrix with -weights off the diagonal and rows that sum to 0."""
    matrix = -weights
    np.fill_diagonal(matrix, 0.0)
    matrix[np.diag_indices(len(matrix))] = -matrix.sum(axis=1)
    return matrix


def information(points: FloatArray, strengths: FloatArray) -> FloatArray:
    """Minus the second derivative of the log-likelihood, n × n: the Laplacian of games · p · (1 - p)."""
    wins = chances(strengths)
    return laplacian((points + points.T) * wins * wins.T)


def gauged(matrix: FloatArray) -> FloatArray:
    """A Laplacian made invertible: equal shifts of all strengths, which it does not see, get its mean diagonal."""
    return matrix + float(np.trace(matrix)) / max(len(matrix), 1) ** 2


def _log_likelihood(points: FloatArray, strengths: FloatArray) -> float:
    return -float((points * np.logaddexp(0.0, strengths[None, :] - strengths[:, None])).sum())


def maximise(points: FloatArray, start: FloatArray, fixed: BoolArray) -> FloatArray:
    """Strengths in nats that maximise sum of points[i, j] · log p(i beats j); those fixed stay where they start.

    points[i, j]: wins of i over j and half the ties. The graph of points must be strongly connected, with the fixed
    ones counted as linked. Without a fixed one the mean is 0. Large steps are halved until the likelihood does not
    fall. Raises NotConverged.
    """
    free = np.flatnonzero(~fixed)
    if not free.size:
        return start
    strengths, largest, games = start, np.inf, points + points.T
    for _ in range(MOST_STEPS):
        wins = chances(strengths)
        surprise = points * wins.T
        gradient = (surprise.sum(axis=1) - surprise.sum(axis=0))[free]
        curvature = laplacian(games * wins * wins.T)
        solvable = gauged(curvature) if free.size == len(points) else curvature[np.ix_(free, free)]
        step = np.zeros(len(points))
        step[free] = np.linalg.solve(solvable, gradient)
        largest = float(np.abs(step).max())
        if largest > COARSE:
            before = _log_likelihood(points, strengths)
            parts = (step / 2**halvings for halvings in range(MOST_HALVINGS))
            step = next((one for one in parts if _log_likelihood(points, strengths + one) >= before), 0.0 * step)
        strengths = strengths + step
        if largest < FINE:
            return strengths if fixed.any() else strengths - strengths.mean()
    raise NotConverged(f"no maximum of the likelihood within {MOST_STEPS} steps; the last one was {largest:g} nats")


def _near(points: FloatArray) -> FloatArray:
    """Strengths in nats to begin with: log-odds of winning against whomever it was, which saves large steps."""
    strengths: FloatArray = np.log((points.sum(axis=1) + 0.5) / (points.sum(axis=0) + 0.5))
    strengths -= strengths.mean()
    return strengths


# --- strengths of everybody, group by group: what the battles say, and where they say nothing ---


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
        above: BoolArray = self.above | (same & (self.strengths[:, None] - self.strengths[None, :] > tolerance))
        return above


def solve(points: FloatArray, anchors: FloatArray | None = None) -> Solution:
    """Fit each group of contestants by itself.

    points[i, j]: wins of i over j and half the ties, n × n. anchors: strengths in nats that are fixed, nan for the
    rest; anchors are on one scale, so they are one group whether or not they met.
    """
    fixed = np.full(len(points), np.nan) if anchors is None else anchors
    is_fixed = ~np.isnan(fixed)
    edges = (points > 0) | np.logical_and.outer(is_fixed, is_fixed)
    paths = reach(edges)
    groups = groups_of(paths & paths.T)
    strengths = np.zeros(len(points))
    for group in members(groups):
        own, among = fixed[group], is_fixed[group]
        inner = points if len(group) == len(points) else points[np.ix_(group, group)]
        start = np.where(among, own, own[among].mean()) if among.any() else _near(inner)
        strengths[group] = maximise(inner, start, among) if len(group) > 1 else start
    return Solution(strengths, groups, groups_of(reach(paths | paths.T)), paths & ~paths.T)


def rated_groups(points: FloatArray, solution: Solution, fixed: FloatArray) -> dict[int, int]:
    """The group that is rated, by component: the anchors', else the largest, the busiest, the one above the most.

    A component where this leaves several, or whose groups are single contestants, has no rated group.
    """
    eligible: dict[int, list[IntArray]] = {}
    for group in members(solution.groups):
        if len(group) > 1 or not np.isnan(fixed[group]).all():
            eligible.setdefault(int(solution.components[group[0]]), []).append(group)

    def merit(group: IntArray) -> tuple[float, ...]:
        is_anchored, busy = not np.isnan(fixed[group]).all(), float(points[np.ix_(group, group)].sum())
        return is_anchored, len(group), busy, int(solution.above[group[0]].sum())

    found = {}
    for component, groups in eligible.items():
        best = groups
        if len(groups) > 1:
            merits = list(map(merit, groups))
            best = [group for group, its in zip(groups, merits, strict=True) if its == max(merits)]
        if len(best) == 1:
            found[component] = int(best[0][0])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A table in the sequence of names, and its solution. order: where each of that sequence is in the given one.

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
        if group == self.solution.groups[index]:
            return None
        points, above = self.table.points, self.solution.above
        won, lost = bool(points[index].any()), bool(points[:, index].any())
        is_above = group is None or bool(above[index, group])
        is_below = group is None or bool(above[group, index])
        if not (won or lost):
            return Reason.NO_BATTLES
        if not lost and is_above:
            return Reason.UNDEFEATED
        if not won and is_below:
            return Reason.WINLESS
        if group is None or not (is_above or is_below):
            return Reason.UNLINKED
        return Reason.ABOVE if is_above else Reason.BELOW


def fitted(battles: Battles | Table, anchors: Mapping[str, float]) -> Fitted:
    """Fit all groups. Raises ValueError for an unknown anchor or one that is not finite."""
    if isinstance(battles, Table) and not anchors:
        return _fitted_table(battles)
    return _fitted(battles if isinstance(battles, Table) else tally(battles), anchors)


@lru_cache(maxsize=2)
def _fitted_table(table: Table) -> Fitted:
    """Kept: intervals and what they are compared with begin with the same fit."""
    return _fitted(table, {})


def _fitted(table: Table, anchors: Mapping[str, float]) -> Fitted:
    order = np.array(sorted(range(len(table.contestants)), key=table.contestants.__getitem__), dtype=np.int64)
    ordered = table.ordered(order)
    names, points = ordered.contestants, ordered.points
    if unknown := sorted(set(anchors) - set(names)):
        raise ValueError(f"anchors that are not contestants: {', '.join(unknown[:5])}")
    if not all(math.isfinite(rating) for rating in anchors.values()):
        raise ValueError("an anchor's rating is not a finite number")
    fixed = np.array([(anchors[name] - MEAN) / ELO if name in anchors else np.nan for name in names])
    solution = solve(points, fixed)
    return Fitted(ordered, order, fixed, solution, rated_groups(points, solution, fixed))


# --- ratings ---


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """values: ratings in the contestants' sequence, nan where none is finite; reasons: why, None for those rated.

    p(i beats j) = 1 / (1 + 10^((value j - value i) / 400)). components: sets of names that battles link, the largest
    first. Ratings are comparable within a component only; each has the mean 1000, or the scale of its anchors.
    over: [i, j], wins lead from i to j and never back, so that i would have to be rated infinitely higher.
    """

    contestants: tuple[str, ...]
    values: FloatArray
    reasons: tuple[Reason | None, ...]
    components: tuple[tuple[str, ...], ...]
    over: BoolArray

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.contestants.index(name)])

    @property
    def component_of(self) -> IntArray:
        """The index in `components` of each contestant's own."""
        where = {name: index for index, names in enumerate(self.components) for name in names}
        return np.array([where[name] for name in self.contestants], dtype=np.int64)

    @property
    def above(self) -> BoolArray:
        """Who is above the rated contestants of its component: no rating would be high enough."""
        return np.asarray(self.over[:, ~np.isnan(self.values)].any(axis=1))

    @property
    def below(self) -> BoolArray:
        """Who is below the rated contestants of its component: no rating would be low enough."""
        return np.asarray(self.over[~np.isnan(self.values)].any(axis=0))

    @property
    def is_placeable(self) -> BoolArray:
        """Who is rated, above or below the rated, or in a component without a rated contestant."""
        rated, component = ~np.isnan(self.values), self.component_of
        found: BoolArray = rated | self.above | self.below | ~np.isin(component, component[rated])
        return found


def fit(battles: Battles | Table, *, anchors: Mapping[str, float] | None = None) -> Ratings:
    """The ratings that make the battles likeliest. anchors: ratings (Elo) by name that stay as they are.

    The maximum of the sum over pairs of points(i, j) · log p(i beats j), points being wins and half the ties. An
    unbeaten contestant has no finite rating, nor has one that never won: nan, with the reason. In each component the
    largest group of contestants that wins link in both directions is rated, or the group of the anchors.
    Independent of the sequence of rows and of contestants. Raises ValueError for an unknown anchor or one that is not
    finite, NotConverged where numbers are beyond floating point.
    """
    return ratings_of(fitted(battles, anchors or {}))


def ratings_of(found: Fitted) -> Ratings:
    """The rated groups' strengths as Elo, in the contestants' own sequence."""
    names, back = found.table.contestants, np.argsort(found.order)
    values = np.full(len(names), np.nan)
    for part in found.parts:
        values[part] = MEAN + ELO * found.solution.strengths[part]
    is_unrated = np.isnan(values).tolist()
    components = [tuple(names[index] for index in part) for part in members(found.solution.components)]
    return Ratings(
        contestants=tuple(names[index] for index in back.tolist()),
        values=values[back],
        reasons=tuple(found.reason(index) if is_unrated[index] else None for index in back.tolist()),
        components=tuple(sorted(components, key=lambda component: (-len(component), component))),
        over=found.solution.above[np.ix_(back, back)],
    )
