import itertools


def subsets(things):
    for size in reversed(range(len(things) + 1)):
        yield from itertools.combinations(things, size)
