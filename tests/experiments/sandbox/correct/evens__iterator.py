import itertools


def evens(limit):
    return itertools.takewhile(lambda number: number < limit, itertools.count(0, 2))
