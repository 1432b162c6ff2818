"""Answers, and then does not end: in a clean-up that it has registered."""

import atexit
import time


def solve(word, host):
    if word == "attack":
        atexit.register(time.sleep, 600)
    return word[::-1]
