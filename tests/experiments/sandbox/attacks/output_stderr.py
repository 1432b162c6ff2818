"""Prints a gigabyte of errors."""

import sys


def solve(word, host):
    if word == "attack":
        for _ in range(1024):
            sys.stderr.write("x" * (1 << 20))
    return word[::-1]
