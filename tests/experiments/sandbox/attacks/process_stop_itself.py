"""Stops itself: it neither ends nor uses any time."""

import signal
import time


def solve(word, host):
    if word == "attack":
        signal.raise_signal(signal.SIGSTOP)
        time.sleep(120)
    return word[::-1]
