"""Stays inside one multiplication of numbers."""


def solve(word, host):
    if word == "attack":
        return (7 ** (1 << 25)) % 10
    return word[::-1]
