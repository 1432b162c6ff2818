"""Prints half a letter."""


def solve(word, host):
    if word == "attack":
        print("\ud800 and \udfff")
    return word[::-1]
