"""Writes noise to every open descriptor, and then answers with the truth."""

import os

NOISE = b"\xff\xfe\x00{]garbage\n" * 100


def solve(word, host):
    if word == "attack":
        for number in range(256):
            try:
                os.set_blocking(number, False)
                os.write(number, NOISE)
            except OSError:
                continue
    return word[::-1]
