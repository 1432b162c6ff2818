"""Takes the limit of recursion away, and then calls itself through C until the stack is gone."""

import sys


def solve(word, host):
    if word == "attack":
        sys.setrecursionlimit(2**31 - 1)
        return max([word], key=lambda one: solve(one, host))
    return word[::-1]
