"""Kills its own group, hoping that the one who waits for it is a member."""

import os
import signal


def solve(word, host):
    if word == "attack":
        try:
            os.killpg(0, signal.SIGKILL)
        except OSError:
            pass
    return word[::-1]
