"""Parts of a whole, with the interval that holds for few units, too."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from leaderboard.ratings.scale import COVERAGE, NORMAL
from leaderboard.ratings.student import t_quantile

NO_SPREAD = 1e-12  # of a share's variance: what rounding leaves where all items came out alike


@dataclass(frozen=True, slots=True)
class Share:
    """part of `of`; value, and Wilson's 95 % interval (1927), are None where there is nothing to share.

    effective: as how many independent units those `of` count, where they are not; None where they are.
    """

    part: int
    of: int
    effective: float | None = None

    @property
    def value(self) -> float | None:
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        p, n, z2 = self.part / self.of, self.of if self.effective is None else self.effective, NORMAL**2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = NORMAL / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


def share_of_items(parts: ArrayLike, wholes: ArrayLike) -> Share:
    """Σ parts of Σ wholes, given by item, whose units are not independent of each other: all votes on one item meet the
    same verdict.

    Wilson's interval is that of n* units, n* = p (1 - p) / variance · (1.96 / t(g - 1))², with the variance between g
    items, and never more than there are; of none and of all, n* = g. Items of one unit each are independent units.
    Raises ValueError for lists of different lengths. Sources: Kish, "Survey Sampling" (1965); Korn & Graubard, Survey
    Methodology 24 (1998).
    """
    part, whole = np.asarray(parts, dtype=np.float64), np.asarray(wholes, dtype=np.float64)
    if part.shape != whole.shape or part.ndim != 1:
        raise ValueError("there is one part and one whole per item")
    part, whole = part[whole > 0], whole[whole > 0]
    count, total = len(whole), float(whole.sum())
    found = Share(round(float(part.sum())), round(total))
    if not count or whole.max() <= 1:
        return found
    value = float(part.sum()) / total
    beyond = part - value * whole
    spread = float(beyond @ beyond) * count / max(count - 1, 1) / total**2
    if count < 2 or spread <= NO_SPREAD or not 0 < value < 1:
        return Share(found.part, found.of, float(min(count, total)))
    effective = value * (1 - value) / spread * (NORMAL / t_quantile(COVERAGE, count - 1)) ** 2
    return Share(found.part, found.of, min(effective, total))
