"""Starts one child, which would go on after it."""

import os
import time


def solve(word, host):
    if word == "attack":
        try:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            return "has a child"
        except OSError:
            pass
    return word[::-1]
