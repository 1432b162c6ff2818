"""Bradley-Terry ratings on the scale of Elo: the maximum-likelihood strengths of contestants, ties as half wins."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.arrays import BoolArray, FloatArray, IntArray
from leaderboard.ratings.battles import Battles, Table
from leaderboard.ratings.fitting import Fitted, fitted
from leaderboard.ratings.links import members
from leaderboard.ratings.scale import ELO, MEAN
from leaderboard.ratings.undefined import Reason


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
