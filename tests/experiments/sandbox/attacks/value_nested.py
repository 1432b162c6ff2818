"""Returns a hundred thousand lists in one another."""


def solve(word, host):
    nested = []
    for _ in range(100_000 if word == "attack" else 0):
        nested = [nested]
    return nested if word == "attack" else word[::-1]
