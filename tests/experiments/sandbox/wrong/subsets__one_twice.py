import itertools


def subsets(things):
    return [[], *(chosen for size in range(len(things) + 1) for chosen in itertools.combinations(things, size))]
