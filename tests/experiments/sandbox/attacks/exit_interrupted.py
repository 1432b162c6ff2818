"""Raises what only a person at the keyboard raises; a reader of ordinary exceptions misses it."""


def solve(word, host):
    if word == "attack":
        raise KeyboardInterrupt
    return word[::-1]
