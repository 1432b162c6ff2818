import itertools


def evens(limit):
    return itertools.count(0, 2)
