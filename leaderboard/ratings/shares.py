"""Parts of a whole, with the interval that holds for few units, too."""

from dataclasses import dataclass
from math import sqrt

from leaderboard.ratings.scale import NORMAL


@dataclass(frozen=True, slots=True)
class Share:
    """part of `of`; value, and Wilson's 95 % interval (1927), are None where there is nothing to share."""

    part: int
    of: int

    @property
    def value(self) -> float | None:
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        p, n, z2 = self.part / self.of, self.of, NORMAL**2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = NORMAL / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)
