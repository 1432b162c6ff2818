"""Prints a gigabyte."""


def solve(word, host):
    if word == "attack":
        for _ in range(1024):
            print("x" * (1 << 20))
    return word[::-1]
