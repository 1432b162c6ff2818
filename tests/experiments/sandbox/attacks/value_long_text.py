"""Returns a text of 100 MB."""


def solve(word, host):
    return "x" * 100_000_000 if word == "attack" else word[::-1]
