"""Ends itself as a failed assertion of C does."""

import os


def solve(word, host):
    if word == "attack":
        os.abort()
    return word[::-1]
