"""Answers, and crashes on the way out."""

import atexit
import os


def solve(word, host):
    if word == "attack":
        atexit.register(os.abort)
    return word[::-1]
