"""Raises the exception that ends a program without a complaint."""


def solve(word, host):
    if word == "attack":
        raise SystemExit
    return word[::-1]
