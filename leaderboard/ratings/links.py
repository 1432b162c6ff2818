"""Who can be compared with whom: what the graph of wins and losses allows to be rated."""

import numpy as np

from leaderboard.ratings.arrays import BoolArray, IntArray


def reach(edges: BoolArray) -> BoolArray:
    """[i, j]: a path of edges leads from i to j; everyone reaches themselves. By squaring until nothing is added."""
    paths = edges | np.eye(len(edges), dtype=bool)
    while True:
        steps = paths.astype(np.float32)
        longer: BoolArray = steps @ steps > 0
        if (longer == paths).all():
            return paths
        paths = longer


def groups_of(mutual: BoolArray) -> IntArray:
    """The group of each under an equivalence relation, as the index of the group's first member."""
    return np.argmax(mutual, axis=1) if len(mutual) else np.zeros(0, dtype=np.int64)


def members(groups: IntArray) -> list[IntArray]:
    """The indices of each group's members, in the sequence of first members."""
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]
