import array


def evens(limit):
    return array.array("i", range(0, limit, 2)).tolist()
