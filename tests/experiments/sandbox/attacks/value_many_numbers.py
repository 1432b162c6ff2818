"""Returns a list of a hundred million numbers."""


def solve(word, host):
    return list(range(10**8)) if word == "attack" else word[::-1]
