"""Returns what is not a number, and what is more than any."""


def solve(word, host):
    return [float("nan"), float("inf"), float("-inf")] if word == "attack" else word[::-1]
