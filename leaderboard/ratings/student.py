"""Quantiles of Student's t distribution, which intervals of few values need."""

import math
from functools import lru_cache

TINY = 1e-300
PRECISION = 1e-15
MOST_TERMS = 10_000


@lru_cache(maxsize=1024)
def t_quantile(confidence: float, degrees: float) -> float:
    """The t with P(|T| <= t) = confidence (0 to 1) for T with so many degrees of freedom (any number above 0).

    Found by halving, from P(|T| > t) = I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t²), where I is the
    regularised incomplete beta function (Abramowitz & Stegun, Handbook of Mathematical Functions, 26.5.27 and 26.7.1).
    """
    if not 0 < confidence < 1 or degrees <= 0:
        raise ValueError("a confidence between 0 and 1 and a positive number of degrees of freedom are needed")
    low, high = 0.0, 1.0
    while tail(high, degrees) > 1 - confidence:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if tail(middle, degrees) > 1 - confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def tail(t: float, degrees: float) -> float:
    """P(|T| > t)."""
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b) for 0 <= x <= 1 and positive a and b.

    By its continued fraction (NIST Digital Library of Mathematical Functions, 8.17.22), which converges quickly below
    (a + 1) / (a + b + 2); beyond that point by I_x(a, b) = 1 - I_(1-x)(b, a) (8.17.4).
    """
    if x in (0, 1):
        return float(x)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(scale) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d1/(1 + d2/(1 + …)), evaluated from the front by the method of Lentz (Applied Optics 15, 1976)."""
    value = upper = 1.0
    lower = 0.0
    for n in range(1, MOST_TERMS):
        m, is_odd = divmod(n, 2)
        term = (
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            if is_odd
            else m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        )
        lower = 1 / (1 + term * lower or TINY)
        upper = 1 + term / upper or TINY
        value *= upper * lower
        if abs(upper * lower - 1) < PRECISION:
            return value
    return value
