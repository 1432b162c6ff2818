"""Prints bytes that are no text, and control characters of terminals."""

import sys


def solve(word, host):
    if word == "attack":
        for stream in (sys.stdout, sys.stderr):
            stream.buffer.write(b"\xff\xfe\x80 \xed\xa0\x80 \x1b[2J\x1b]0;title\x07\r\n" * 1000)
            stream.buffer.flush()
    return word[::-1]
