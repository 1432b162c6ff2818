"""Answers with the truth, and hangs when its last object is thrown away."""

import time


class Sticky:
    def __del__(self):
        time.sleep(600)


KEPT = []


def solve(word, host):
    if word == "attack":
        KEPT.append(Sticky())
    return word[::-1]
