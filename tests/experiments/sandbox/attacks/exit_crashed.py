"""Reads memory that is not there."""

import ctypes


def solve(word, host):
    if word == "attack":
        ctypes.string_at(0)
    return word[::-1]
