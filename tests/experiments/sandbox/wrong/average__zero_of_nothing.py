def average(values):
    return sum(values) / max(len(values), 1)
