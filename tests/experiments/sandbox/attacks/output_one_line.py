"""Prints a single line of 64 MB: readers that wait for its end keep it all."""

import sys


def solve(word, host):
    if word == "attack":
        for _ in range(64):
            sys.stdout.write("x" * (1 << 20))
            sys.stdout.flush()
    return word[::-1]
