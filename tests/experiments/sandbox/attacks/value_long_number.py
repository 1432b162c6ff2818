"""Returns a number of a hundred thousand digits."""


def solve(word, host):
    return 10**100_000 if word == "attack" else word[::-1]
