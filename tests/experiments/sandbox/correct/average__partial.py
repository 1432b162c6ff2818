import functools
import operator


def folded(function, start, values):
    return functools.reduce(function, values, start) / len(values) if values else None


average = functools.partial(folded, operator.add, 0)
