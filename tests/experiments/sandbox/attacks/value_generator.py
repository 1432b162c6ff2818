"""Returns a generator that never ends."""

import itertools


def solve(word, host):
    return itertools.repeat(0) if word == "attack" else word[::-1]
