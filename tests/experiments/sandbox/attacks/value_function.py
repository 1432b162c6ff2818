"""Returns itself, its module and its frame."""

import sys


def solve(word, host):
    return [solve, sys, sys._getframe()] if word == "attack" else word[::-1]
