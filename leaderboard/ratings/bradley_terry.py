"""Bradley-Terry ratings on the scale of Elo: the maximum-likelihood strengths of contestants, ties as half wins."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.battles import Battles, Table, as_table, tally
from leaderboard.ratings.likelihood import Solution, members, solve
from leaderboard.ratings.values import ELO, MEAN, TAIL, BoolArray, FloatArray, IntArray, Reason

Errors = Mapping[str, float] | FloatArray

FEWEST = 2  # observations: nothing can be learned from one about another
BISECTIONS = 100


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
        """Who is rated, above or below the rated, or in a component in which nobody is rated."""
        rated, component = ~np.isnan(self.values), self.component_of
        found: BoolArray = rated | self.above | self.below | ~np.isin(component, component[rated])
        return found


def fit(battles: Battles | Table, *, anchors: Mapping[str, float] | None = None) -> Ratings:
    """The ratings that make the battles likeliest. anchors: ratings (Elo) by name that stay as they are.

    The maximum of the sum over pairs of points(i, j) · log p(i beats j), points being wins and half the ties.
    Sources: Bradley & Terry, Biometrika 39 (1952); who has a maximum: Ford, Am. Math. Monthly 64 (1957).
    An unbeaten contestant has no finite rating, nor has one that never won: nan, with the reason. In each component the
    largest group of contestants that wins link in both directions is rated, or the group of the anchors.
    Independent of the sequence of rows and of contestants. Raises ValueError for an unknown anchor or one that is not
    finite, NotConverged where numbers are beyond floating point.
    """
    return ratings_of(fitted(battles, anchors or {}))


def ratings_of(found: Fitted) -> Ratings:
    """The rated groups' strengths as Elo, in the contestants' own sequence."""
    names = found.table.contestants
    values = np.full(len(names), np.nan)
    for part in found.parts:
        values[part] = MEAN + ELO * found.solution.strengths[part]
    back = np.argsort(found.order)
    components = [tuple(names[index] for index in part) for part in members(found.solution.components)]
    return Ratings(
        contestants=tuple(names[index] for index in back.tolist()),
        values=found.restored(values),
        reasons=tuple(found.reason(index) for index in back.tolist()),
        components=tuple(sorted(components, key=lambda component: (-len(component), component))),
        over=found.solution.above[np.ix_(back, back)],
    )


# --- bounds for contestants without a finite rating: those that won, or lost, every battle with the rated ones ---


@dataclass(frozen=True, slots=True, eq=False)
class OneSided:
    """In the contestants' sequence; nan, 0 or False where nothing is known.

    lower: ratings (Elo) of those above the rated ones: at a lower rating, the probability of winning every one of
    their battles with the rated would be below 2.5 %. upper: the mirror, for those below. weights: n × n, how far a
    bound moves with each rated contestant's rating; rows sum to 1. surely: [i, j], i won every battle with j, which
    two equal contestants would do with a probability of 2.5 % at most.
    """

    lower: FloatArray
    upper: FloatArray
    weights: FloatArray
    surely: BoolArray


def from_counts(ratings: Ratings, counts: FloatArray) -> OneSided:
    """counts: n × n, how many independent observations the battles of each pair are; fractions are allowed."""
    return _one_sided(ratings, counts, counts)


def from_items(ratings: Ratings, table: Table, battles: Battles, items: ArrayLike) -> OneSided:
    """items: one whole number per battle. Battles of the table that are not among `battles` are independent.

    Battles on one item may depend on each other in any way: the probability of winning all of them is at most that of
    winning the hardest one (Fréchet, Ann. Univ. Lyon 14 (1951)), so that each item counts as that one battle.
    """
    size, told = len(table.contestants), tally(battles)
    alone = np.maximum(table.games - told.games, 0.0)
    who, other = np.concatenate([battles.left, battles.right]), np.concatenate([battles.right, battles.left])
    item = np.unique(np.tile(np.asarray(items), 2), return_inverse=True)[1].reshape(-1)
    hardest = alone + _hardest(ratings, who, other, item)
    is_over = ratings.over[who, other]
    met = np.unique(np.stack([who, other, item])[:, is_over], axis=1)
    return _one_sided(ratings, hardest, alone + _counted(met[0], met[1], size))


def _one_sided(ratings: Ratings, hardest: FloatArray, met: FloatArray) -> OneSided:
    size = len(ratings.contestants)
    lower, upper, weights = np.full(size, np.nan), np.full(size, np.nan), np.zeros((size, size))
    rated, above = ~np.isnan(ratings.values), ratings.above
    for index in np.flatnonzero(above | ratings.below).tolist():
        counts, opponents = hardest[index, rated], ratings.values[rated] / ELO
        if counts.sum() < FEWEST:
            continue
        sign = 1.0 if above[index] else -1.0
        bound, weights[index, rated] = _bound(sign * opponents, counts)
        (lower if above[index] else upper)[index] = ELO * sign * bound
    return OneSided(lower, upper, weights, ratings.over & (0.5**met <= TAIL))


def _bound(opponents: FloatArray, counts: FloatArray) -> tuple[float, FloatArray]:
    """The strength (nats) at which the product of p(beats j)^counts[j] is 2.5 %, and its derivatives.

    This is the exact one-sided 97.5 % limit for a number of successes that is as high as it can be, with the
    opponents' strengths taken as given. Source: Clopper & Pearson, Biometrika 26 (1934).
    """
    met = counts > 0
    end = -math.log(math.expm1(-math.log(TAIL) / float(counts.sum())))  # were all opponents equal
    low, high = float(opponents[met].min()) + end, float(opponents[met].max()) + end
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        is_low = -float(counts @ np.logaddexp(0.0, opponents - middle)) < math.log(TAIL)
        low, high = (middle, high) if is_low else (low, middle)
    pull = counts / (1.0 + np.exp(high - opponents))
    return high, pull / pull.sum()


def _hardest(ratings: Ratings, who: IntArray, other: IntArray, item: IntArray) -> FloatArray:
    """[i, j]: on how many items j was, of the rated ones that i met there, the hardest for i to beat, or to lose to."""
    values, above, below = ratings.values, ratings.above, ratings.below
    chosen = (above | below)[who] & ~np.isnan(values[other])
    who, other, item = who[chosen], other[chosen], item[chosen]
    hardness = np.where(above[who], values[other], -values[other])
    order = np.lexsort((hardness, item, who))
    who, other, item = who[order], other[order], item[order]
    is_last = np.append((who[1:] != who[:-1]) | (item[1:] != item[:-1]), True)[: len(who)]
    return _counted(who[is_last], other[is_last], len(values))


def _counted(who: IntArray, other: IntArray, size: int) -> FloatArray:
    return np.bincount(who * size + other, minlength=size * size).reshape(size, size).astype(np.float64)
