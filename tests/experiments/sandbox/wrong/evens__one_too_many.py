def evens(limit):
    return list(range(0, limit + 1, 2))
