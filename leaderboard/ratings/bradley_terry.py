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
    above: from whom wins lead to the rated of the component and never back, so that no rating would be high enough.
    """

    contestants: tuple[str, ...]
    values: FloatArray
    reasons: tuple[Reason | None, ...]
    components: tuple[tuple[str, ...], ...]
    above: BoolArray

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.contestants.index(name)])

    @property
    def component_of(self) -> IntArray:
        """The index in `components` of each contestant's own."""
        where = {name: index for index, names in enumerate(self.components) for name in names}
        return np.array([where[name] for name in self.contestants], dtype=np.int64)


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
    back = np.argsort(found.order).tolist()
    components = [tuple(names[index] for index in part) for part in members(found.solution.components)]
    return Ratings(
        contestants=tuple(names[index] for index in back),
        values=found.restored(values),
        reasons=tuple(found.reason(index) for index in back),
        components=tuple(sorted(components, key=lambda component: (-len(component), component))),
        above=np.array([found.is_above(index) for index in back], dtype=bool),
    )
