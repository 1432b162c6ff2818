"""Sleeps: no processor time is used."""

import time


def solve(word, host):
    if word == "attack":
        time.sleep(600)
    return word[::-1]
