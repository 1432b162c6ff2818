"""Starts threads that only sleep, without end."""

import threading
import time

ENOUGH = 2000


def solve(word, host):
    if word == "attack":
        for count in range(ENOUGH):
            try:
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            except RuntimeError:
                return word[::-1]
        return f"has {count} threads"
    return word[::-1]
