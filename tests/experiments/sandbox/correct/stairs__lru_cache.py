from functools import lru_cache


@lru_cache(maxsize=None)
def stairs(steps):
    if steps < 2:
        return int(steps >= 0)
    half = steps // 2
    if steps % 2:
        return stairs(half) * (stairs(half) + 2 * stairs(half - 1))
    return stairs(half) ** 2 + stairs(half - 1) ** 2
