import itertools


def two_sum(numbers, target):
    for (i, a), (j, b) in itertools.combinations(enumerate(numbers), 2):
        if a + b == target:
            return i, j
    return ()
