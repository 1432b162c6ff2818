import functools


def remembering(function):
    known = {}

    @functools.wraps(function)
    def remembered(*arguments):
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    return remembered


@remembering
def ways(steps, after):
    return after if steps < 2 else ways(steps - 1, after) + ways(steps - 2, after)


@remembering
def stairs(steps):
    low, high = 1, 1
    for _ in range(steps):
        low, high = high, low + high
    return low
