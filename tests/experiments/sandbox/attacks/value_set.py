"""Returns a set, whose order nobody can expect."""


def solve(word, host):
    return set("kcatta") if word == "attack" else word[::-1]
