def total(values):
    return str(sum(values))
