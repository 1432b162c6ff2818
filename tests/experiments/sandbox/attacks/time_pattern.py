"""Stays inside one call of C: a pattern that tries every way to split a text."""

import re


def solve(word, host):
    if word == "attack":
        re.match(r"(a+)+$", "a" * 60 + "b")
    return word[::-1]
