"""Returns a million small things: no single one is large."""


def solve(word, host):
    return [[] for _ in range(10**6)] if word == "attack" else word[::-1]
