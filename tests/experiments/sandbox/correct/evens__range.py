def evens(limit):
    return range(0, limit, 2)
