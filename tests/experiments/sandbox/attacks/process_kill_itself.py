"""Kills itself."""

import os
import signal


def solve(word, host):
    if word == "attack":
        signal.raise_signal(signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return word[::-1]
