"""Asks for input where there is none."""


def solve(word, host):
    if word == "attack":
        return input("the answer? ")
    return word[::-1]
