"""Returns bytes, which look like the expected text."""


def solve(word, host):
    return b"kcatta" if word == "attack" else word[::-1]
