"""Has the interpreter write a gigabyte of warnings."""

import warnings


def solve(word, host):
    if word == "attack":
        warnings.simplefilter("always")
        for _ in range(1024):
            warnings.warn("x" * (1 << 20), stacklevel=1)
    return word[::-1]
