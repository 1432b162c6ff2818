"""Leaves a daemon behind that has left the group, and keeps every pipe of the parent open."""

import os
import time


def solve(word, host):
    if word == "attack":
        try:
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    time.sleep(120)
                os._exit(0)
        except OSError:
            pass
    return word[::-1]
