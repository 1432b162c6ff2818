"""Several tests of one study, and several looks at it while it runs."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from leaderboard.ratings.values import FloatArray

NORMAL = NormalDist()
FURTHEST = 12.0  # standard deviations: beyond it there is no probability left to count
POINTS = 401  # of a grid between two bounds


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of planned contrasts, in their order: the chance of any false finding is held.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979).
    """
    adjusted, least = [0.0] * len(p_values), 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = least
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values of an exploration, in their order: the expected share of false ones among findings is held.

    Source: Benjamini & Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57 (1995).
    """
    adjusted, most = [0.0] * len(p_values), 1.0
    ordered = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, number in reversed(list(enumerate(ordered, 1))):
        most = min(most, p_values[number] * len(p_values) / rank)
        adjusted[number] = most
    return adjusted


def spent(share: float, alpha: float) -> float:
    """How much of alpha may be spent once this share (above 0, up to 1) of the planned runs is seen: 4 - 4Φ(z / √share)
    with z the 1 - alpha / 4 quantile, almost nothing at first.

    Source: Lan & DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983), after O'Brien &
    Fleming, Biometrics 35 (1979).
    """
    return 4 * NORMAL.cdf(-NORMAL.inv_cdf(1 - alpha / 4) / math.sqrt(share))


def look_bounds(shares: Sequence[float], alpha: float, spent_at: Sequence[float] | None = None) -> list[float]:
    """At each look, the |z| that a finding needs, so that all looks together err with probability alpha.

    shares: of the planned runs that had been seen at each look, rising, above 0 and up to 1. Raises ValueError for
    others. spent_at: the shares as they were at each look, where runs were added later: what a look has spent stays
    spent, and where nothing is left a bound is FURTHEST. The density of what has not yet crossed is carried from look
    to look on a grid and integrated by Simpson's rule. A p-value at look k is a finding where it is below
    2 (1 - Φ(bound k)).
    Source: Armitage, McPherson & Rowe, J. R. Stat. Soc. A 132 (1969); Lan & DeMets (1983).
    """
    if not shares or any(b <= a for a, b in zip((0.0, *shares), shares, strict=False)) or shares[-1] > 1:
        raise ValueError("shares of the planned runs rise from above 0 up to 1")
    bounds: list[float] = []
    before, used, grid, density = 0.0, 0.0, np.zeros(1), np.ones(1)
    for share, seen_as in zip(shares, spent_at or shares, strict=True):
        width = math.sqrt(share - before)
        target = max(0.0, spent(seen_as, alpha) - used)
        low, high = 0.0, FURTHEST * math.sqrt(share)
        while high - low > 1e-12:
            end = (low + high) / 2
            crossed = 2 * float(density @ _upper_tail((end - grid) / width))
            low, high = (end, high) if crossed > target else (low, end)
        bounds.append(low / math.sqrt(share))
        fresh = np.linspace(-low, low, POINTS)
        kernel = np.exp(-(((fresh[:, None] - grid[None, :]) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        density = (kernel @ density) * _simpson(POINTS, fresh[1] - fresh[0])
        before, used, grid = share, used + target, fresh
    return bounds


def _simpson(points: int, step: float) -> FloatArray:
    weights = np.full(points, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return weights * step / 3


def _upper_tail(z: FloatArray) -> FloatArray:
    return np.array([math.erfc(one / math.sqrt(2)) / 2 for one in z.tolist()])
