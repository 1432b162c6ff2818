"""Sends numbers that make whoever reads them fail or wait: a hundred thousand digits, and no numbers at all."""

import os

VALUES = (b"9" * 100_000, b"1e999999", b"-Infinity", b"NaN", b"1." + b"0" * 100_000)


def solve(word, host):
    if word == "attack":
        for number in range(3, 64):
            for value in VALUES:
                try:
                    os.write(number, value + b"\n" + b'{"value": ' + value + b"}\n")
                except OSError:
                    continue
        os._exit(0)
    return word[::-1]
