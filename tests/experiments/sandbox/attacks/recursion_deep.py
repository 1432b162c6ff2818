"""Calls itself without end."""


def solve(word, host):
    if word == "attack":
        return solve(word, host)
    return word[::-1]
