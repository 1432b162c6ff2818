"""Uses up its time in each of its tests, so that there is none for all of them."""

import time


def solve(word, host):
    time.sleep(600)
